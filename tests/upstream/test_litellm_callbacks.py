"""LiteLLM's callbacks are called for routes through LiteLLM, and for no others."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import orjson
import pytest
from structlog.typing import EventDict

from proxy.errors import ProxyError
from proxy.services.opening import callbacks
from proxy.settings.litellm import adopt
from proxy.settings.load import load_settings
from proxy.upstream import litellm
from proxy.upstream.litellm import LiteLLMUpstream
from proxy.upstream.litellm_callbacks import Callbacks
from tests.fakes import replies
from tests.fakes.provider import FakeProvider
from tests.upstream.test_litellm import CLAUDE, ask, chat, to

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings(
        "ignore:Item '.*' on TypedDict class '.*' is using the `ReadOnly` qualifier:UserWarning"
    ),
]

OWN = """
from litellm.integrations.custom_logger import CustomLogger

TOLD = []

class Listener(CustomLogger):
    async def async_log_success_event(self, kwargs, response_obj, start_time, end_time):
        TOLD.append(("success", kwargs["standard_logging_object"]["messages"]))

    async def async_log_failure_event(self, kwargs, response_obj, start_time, end_time):
        TOLD.append(("failure", kwargs["standard_logging_object"]["messages"]))

listener = Listener()
listener.told = TOLD
"""
LISTS = (
    "callbacks", "input_callback", "success_callback", "failure_callback", "_async_input_callback",
    "_async_success_callback", "_async_failure_callback",
)  # fmt: skip


@pytest.fixture
async def module() -> AsyncIterator[Any]:
    """Return LiteLLM, and restore its process-wide lists of callbacks afterwards."""
    loaded = await litellm.load()
    before = {name: list(getattr(loaded, name)) for name in LISTS}
    hidden = loaded.turn_off_message_logging
    yield loaded
    for name, kept in before.items():
        getattr(loaded, name)[:] = kept
    loaded.turn_off_message_logging = hidden


async def told(module: Any, count: int) -> list[tuple[str, Any]]:
    """Wait until the user's callback was called ``count`` times."""
    (listener,) = [one for one in module.callbacks if hasattr(one, "told")]
    with anyio.fail_after(20):
        while len(listener.told) < count:
            await anyio.lowlevel.checkpoint()
    return list(listener.told)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "custom_callbacks.py").write_text(OWN)
    return tmp_path


@pytest.mark.parametrize("name", ["custom_callbacks.listener", "custom_callbacks.Listener"])
async def test_operators_callback_sees_the_messages(
    folder: Path, module: Any, provider: FakeProvider, name: str
) -> None:
    upstream = LiteLLMUpstream(callbacks=Callbacks(both=(name,), folder=folder))
    try:
        await ask(upstream, chat(), to(upstream, provider))
        if name.endswith("Listener"):
            assert type(module.callbacks[-1]).__name__ == "Listener"
            return
        assert await told(module, 1) == [("success", [{"role": "user", "content": "hi"}])]
        await ask(upstream, chat(stream=True), to(upstream, provider))
        assert [kind for kind, _ in await told(module, 2)] == ["success", "success"]
        provider.then(replies.error(400, "no"))
        await ask(upstream, chat(), to(upstream, provider))
        assert (await told(module, 3))[2][0] == "failure"
    finally:
        await upstream.aclose()


async def test_messages_stay_out_where_they_are_switched_off(folder: Path, module: Any, provider: FakeProvider) -> None:
    callbacks = Callbacks(both=("custom_callbacks.listener",), folder=folder, hides_messages=True)
    upstream = LiteLLMUpstream(callbacks=callbacks)
    try:
        await ask(upstream, chat(), to(upstream, provider))
        assert "hi" not in str(await told(module, 1)).replace("anthropic", "")
    finally:
        await upstream.aclose()


async def test_our_own_background_calls_are_told_to_nobody(folder: Path, module: Any, provider: FakeProvider) -> None:
    upstream = LiteLLMUpstream(callbacks=Callbacks(both=("custom_callbacks.listener",), folder=folder))
    access = {"model": CLAUDE, "api_key": "sk-ant-x", "base_url": provider.url}
    try:
        await ask(upstream, chat(), to(upstream, provider))
        await litellm.complete(messages=[{"role": "user", "content": "what was learned"}], **access)
        provider.then(replies.error(400, "no"))
        with pytest.raises(ProxyError):
            await litellm.complete(messages=[{"role": "user", "content": "what was learned"}], **access)
        await ask(upstream, chat(), to(upstream, provider))
        assert "learned" not in str(await told(module, 2))
    finally:
        await upstream.aclose()


async def test_what_cannot_start_is_left_out_and_named(
    folder: Path, module: Any, provider: FakeProvider, log_lines: list[EventDict]
) -> None:
    missing = ("langfuse", "sentry", "slack", "lunary", "no_such_integration", "no_such_module.thing")
    upstream = LiteLLMUpstream(callbacks=Callbacks(success=missing, failure=missing, folder=folder))
    try:
        status, _, body = await ask(upstream, chat(), to(upstream, provider))
        assert (status, orjson.loads(body)["choices"][0]["message"]["content"]) == (200, "echo: hi")
    finally:
        await upstream.aclose()
    said = {line["callback"]: line["error"] for line in log_lines if line["log_level"] == "error"}
    assert set(said) == set(missing)
    assert "pip install" in said["sentry"]
    assert "No module named 'no_such_module'" in said["no_such_module.thing"]
    assert not {*missing} & {
        one for one in [*module.success_callback, *module.failure_callback] if isinstance(one, str)
    }


def test_the_configuration_says_which(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(
        "litellm_settings: {success_callback: [langfuse], failure_callback: [sentry], callbacks: my.handler,"
        " turn_off_message_logging: true}\n"
        "environment_variables: {LANGFUSE_PUBLIC_KEY: pk-1, LANGFUSE_SECRET_KEY: os.environ/ELSEWHERE}\n"
    )
    settings = load_settings(file)
    assert settings.without_effect == ()
    assert callbacks(settings) == Callbacks(
        success=("langfuse",),
        failure=("sentry",),
        both=("my.handler",),
        hides_messages=True,
        folder=tmp_path.resolve(),
        variables={"LANGFUSE_PUBLIC_KEY": "pk-1"},
    )
    assert "litellm_callbacks" not in settings.model_dump()


def test_without_callbacks_messages_stay_hidden_as_before() -> None:
    assert "litellm_callbacks" not in adopt({"litellm_settings": {"turn_off_message_logging": False}}, {})
    assert not Callbacks(hides_messages=False)


def test_nothing_is_loaded_before_the_first_use() -> None:
    code = "import sys; from proxy.upstream.litellm import LiteLLMUpstream as U; from proxy.upstream.litellm_callbacks "
    code += "import Callbacks as C; U(callbacks=C(both=('langfuse',))); print('litellm' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
