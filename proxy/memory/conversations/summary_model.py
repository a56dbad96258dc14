"""Summaries by the operator's model, in the background; extractive summaries are the fallback."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from proxy.memory.conversations.summarize import Utterance
from proxy.memory.model.access import ChosenModel, model_access
from proxy.memory.model.call import Complete, ModelAccess, load_prompt
from proxy.memory.model.json_text import find_json
from proxy.settings.memory import MemorySettings
from proxy.store.costs import Cost
from proxy.text.fence import escape
from proxy.text.secrets import redact

_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"summary": {"type": "string"}},
    "required": ["summary"],
    "additionalProperties": False,
}
_MAX_CHARACTERS = 200_000  # of one call
_MAX = 4000  # characters of one message
_MIN_WORDS = 60
_CHARACTERS_A_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Written:
    """A summary and its cost; ``text`` is empty if the model's reply could not be used."""

    text: str
    cost: Cost


class ModelSummarizer:
    """Client of a model that writes summaries.

    Args:
        complete: Makes the call, with the operator's own access.
        model: LiteLLM's name of the model.
        timeout_s: Maximum seconds of a call.
    """

    def __init__(self, complete: Complete, model: str, timeout_s: float) -> None:
        self._complete, self._model, self._timeout_s = complete, model, timeout_s

    @property
    def model(self) -> str:
        """Name of the model."""
        return self._model

    async def write(self, said: Sequence[Utterance], most_tokens: int) -> Written:
        """Return a summary of messages.

        Raises:
            ProxyError: If the model cannot be called now.
        """
        prompt = load_prompt("summary")
        words = max(_MIN_WORDS, most_tokens * 6 // 10)
        messages = [
            {"role": "system", "content": prompt.fill("system", {"words": words})},
            {"role": "user", "content": prompt.fill("user", {"said": _shown(said)})},
        ]
        return await self._written(messages, most_tokens)

    async def describe(self, name: str, shown: str, most_tokens: int) -> Written:
        """Return a summary of a document.

        Args:
            name: Name of the file.
            shown: Text of the file that is sent.
            most_tokens: Maximum tokens of the summary.

        Raises:
            ProxyError: If the model cannot be called now.
        """
        prompt = load_prompt("document")
        words = max(_MIN_WORDS, most_tokens * 6 // 10)
        told = {"name": escape(name).replace('"', "'"), "said": escape(redact(shown))}
        messages = [
            {"role": "system", "content": prompt.fill("system", {"words": words})},
            {"role": "user", "content": prompt.fill("user", told)},
        ]
        return await self._written(messages, most_tokens)

    async def _written(self, messages: Sequence[dict[str, str]], most_tokens: int) -> Written:
        reply = await self._complete(model=self._model, messages=messages, schema=_SCHEMA, timeout_s=self._timeout_s)
        spent = Cost("summaries", reply.prompt_tokens + reply.completion_tokens, reply.cost_usd or 0.0)
        found = find_json(reply.text or "", _judge)
        text = found.value["summary"] if found is not None else ""
        return Written(" ".join(redact(text).split())[: most_tokens * _CHARACTERS_A_TOKEN], spent)


def select_summarizer(
    settings: MemorySettings, environ: Mapping[str, str], connect: Callable[[ModelAccess], Complete]
) -> ModelSummarizer | None:
    """Return the summarizer that the settings choose; None for extractive summaries.

    Raises:
        ConfigError: If ``summary_model`` is set and there is no key for it.
    """
    if settings.summary_model is None:
        return None
    chosen = ChosenModel(
        settings.summary_model,
        settings.summary_api_key,
        settings.summary_base_url,
        settings.extraction_timeout_s,
        setting="memory.summary",
        otherwise="leave memory.summary_model out, for extractive summaries",
    )
    access = model_access(chosen, environ)
    return ModelSummarizer(connect(access), access.model, access.timeout_s)


def _judge(value: Any) -> Literal["answer"] | None:
    return "answer" if isinstance(value, dict) and isinstance(value.get("summary"), str) else None


def _shown(said: Sequence[Utterance]) -> str:
    """Return messages as in the prompt; of very many, the start of each, so that all fit into one call."""
    each = min(_MAX, max(80, _MAX_CHARACTERS // max(1, len(said))))
    lines = [f'<said by="{one.role}" number="{one.number}">{escape(redact(one.text)[:each])}</said>' for one in said]
    return "\n".join(lines)[: 2 * _MAX_CHARACTERS]
