"""Requests that clients make for themselves are recognised by several signs; users' requests are not."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from proxy.dialects import chat, messages, responses
from proxy.dialects.errands import is_errand

OWN = "I work as a radiographer and my dog is called Biscuit."
TALK = [{"role": "user", "content": OWN}, {"role": "assistant", "content": "Nice."}]
TRANSCRIPT = f"User: {OWN}\nAssistant: Nice."


def errand(user: str, system: str = "", history: list[dict[str, str]] | None = None, **more: Any) -> bool:
    first = [{"role": "system", "content": system}] if system else []
    body = {"model": "m", "messages": [*first, *(history or []), {"role": "user", "content": user}], **more}
    return is_errand(chat.read(orjson.dumps(body)), {})


@pytest.mark.parametrize(
    ("user", "system"),
    [
        (
            f'### Task:\nWrite a 3-5 word title.\n### Output:\nJSON: {{ "title": "" }}\n<chat_history>\n{TRANSCRIPT}\n</chat_history>',
            "",
        ),
        (f"Provide a concise, 5-word-or-less title for the conversation. Only return the title.\n\n{TRANSCRIPT}", ""),
        (
            f"Erstelle einen kurzen Titel für dieses Gespräch. Antworte nur mit dem Titel.\n\nNutzer: {OWN}\nAssistent: Schön.",
            "",
        ),
        (
            f"Génère un titre court pour cette conversation, sans guillemets.\n\nUtilisateur : {OWN}\nAssistant : Bien.",
            "",
        ),
        (
            f"{TRANSCRIPT}\n\nRewrite the last user question as a self-contained search query. Output the query only.",
            "",
        ),
        (
            f"From this conversation make the follow up a standalone question.\nHuman: a\nAssistant: b\nFollow Up Input: {OWN}",
            "",
        ),
        (f"Rate the assistant's answer from 1 to 5. Answer with the number only.\n\n{TRANSCRIPT}", ""),
        ("Write a branch name for the following diff. Return just the name.\ndiff --git a/x b/x\n+x", ""),
        (
            "Given the following... please reply with a title for the chat, no additional text or explanation.\n\n"
            + OWN,
            "",
        ),
        (OWN, "You are a title generator. You output ONLY a thread title."),
        (OWN, "Du bist ein Titelgenerator. Gib nur den Titel der Unterhaltung aus, höchstens 5 Wörter."),
        (OWN, "Classify the user's message: billing, tech, other. Respond with the label only."),
        (OWN, 'You are a router. Return JSON {"agent": "..."}.'),
        (f"# USER\n{OWN}", "*Briefly* summarize this partial conversation about cooking."),
        (f"Come up with a title for a thread that begins with this message, nothing else: {OWN}", ""),
        (
            f'You were given responses from various models to the latest user query: "{OWN}"\nYour task is to merge them.',
            "",
        ),
        (
            "You are an AI language model assistant. Your task is to generate 3 versions of the user question to find pages.",
            "",
        ),
        ("Summarize what matters in the story so far. Include nothing but the summary.", ""),
        (f"# {OWN}\n<fim_prefix>def f():\n    <fim_suffix>\n    return x<fim_middle>", ""),
        (f"Page content:\n---\n{OWN}\n---\n\nWhich version? Provide an answer based only on this.", ""),
        (
            f'Query: History:\nUSER: """{OWN}"""\nQuery: {OWN}',
            'Available Tools: [{"name": "weather", "description": "Tells the weather. Of a place."}]\n\n'
            "Your task is to choose the correct tool(s) from the list. Follow these guidelines:\n\n- Return only JSON.",
        ),
        (
            OWN,
            "A developer asks a chatbot. Your goal is to select a function for the question. Respond with its id only.",
        ),
        (TRANSCRIPT, 'Extract facts about the user from this conversation. Return JSON with the key "facts".'),
    ],
)
def test_errands_are_known(user: str, system: str) -> None:
    assert errand(user, system)


@pytest.mark.parametrize(
    "user",
    [
        "Name this chat in 2-4 words. Output only the name.",
        "Придумай короткий заголовок для этого диалога. Выведи только заголовок.",
        "Genera tres preguntas de seguimiento para el usuario. Responde solo con un array JSON.",
        "会話のタイトルを10文字以内で生成してください。説明不要。",
        "请根据上述对话生成三个用户可能会追问的问题,只返回JSON数组",
        "Your task is to create a detailed summary of the conversation so far, with the user's requests in mind.",
        "[NEXT MODE: Predict what the user might type next.]\nNEVER SAY:\n- Questions\nReply with ONLY that, no explanation.",
        "Predict what the user would write after this. Two to twelve words. Output only the words.",
        "Sag voraus, was der Nutzer als Nächstes schreibt. Antworte nur mit dem Vorschlag.",
        "预测用户接下来可能会输入什么,只输出建议,不要解释",
        "You are performing a checkpoint. Write a handoff summary for another model.",
        "The user stepped away and is coming back. Recap in under 40 words, no markdown.",
        "Write a short question that the user can ask next. Reply with only the text of the question.",
    ],
)
def test_errands_behind_a_conversation_are_known(user: str) -> None:
    assert errand(user, history=TALK)
    assert errand(user, history=TALK, tools=[{"type": "function", "function": {"name": "f"}}])


@pytest.mark.parametrize(
    ("user", "system"),
    [
        ("Where do I live? Answer with the city only.", ""),
        ("Give me three titles for my novel, only the titles", ""),
        ("Write a title for a talk on productivity tools. Only the title.", ""),
        ("Rewrite my bio in 50 words, no explanations: I am a radiographer", ""),
        ("You are an expert copywriter. Write 3 headlines for a bakery in the city where I live.", ""),
        ("### Task\nWrite a summary of the novel Dune.\n### Output\nOnly bullet points", ""),
        ("Gib mir nur einen kurzen Titel für meinen Blog über meine Werkzeuge", ""),
        ("Придумай название для моего чата, только название", ""),
        ("给我的读书群起个名字,只要名字", ""),
        ("What was the topic of the last chat? One word only.", ""),
        ("Where do I live?", "You are a helpful assistant. Use the conversation history. Only answer in English."),
        ("Where do I live?", "Answer with at most 20 words."),
        ("Where do I live?", "You are a support agent. Answer the user's query only from the context. Do not explain."),
        ("Where should I go?", "You are an assistant for planning trips. Answer only in English."),
        ("Where should I go?", "Your job is to pick the best wine. Answer only in English."),
        ("Can you write a title for my novel?", ""),
        ("I have three tasks today: call mum, buy milk", ""),
        ("Summarize the meeting", ""),
    ],
)
def test_wishes_of_people_are_none(user: str, system: str) -> None:
    assert not errand(user, system)
    assert not errand(user, system, TALK)


NOTES = "Skills to call, as JSON.\n- judge: turn an intention into a goal that leaves evidence in the transcript."


@pytest.mark.parametrize("tag", ["system-reminder", "skills", "of_tomorrow"])
@pytest.mark.parametrize("words", ["Where do I live?", f"{OWN} Read the file notes.txt."])
def test_agents_notes_beside_a_turn_make_no_errand(tag: str, words: str) -> None:
    notes, tools = f"<{tag}>\n{NOTES}\n</{tag}>", [{"type": "function", "function": {"name": "read"}}]
    parts = [{"type": "text", "text": notes}, {"type": "text", "text": words}]
    for content in (f"{notes}\n\n{words}", parts):
        body = {"model": "m", "messages": [{"role": "user", "content": content}], "tools": tools}
        assert not is_errand(chat.read(orjson.dumps(body)), {})


def test_an_errand_behind_notes_is_one() -> None:
    notes = f"<system-reminder>\n{NOTES}\n</system-reminder>\n"
    assert errand(f"{notes}Your task is to create a summary of the conversation so far.", history=TALK)
    assert errand("<instructions>Write a title for this conversation, nothing else.</instructions>\n" + OWN)


def test_a_task_beside_an_agents_talk_is_one() -> None:
    system, tools = "You act as the memory extraction subagent of an assistant.", [{"type": "function"}]
    assert errand("Scan the history and update the files. " * 20, system, TALK, tools=tools)
    assert not errand("Which city do I live in?", system, TALK, tools=tools)
    assert not errand("I wrote a long letter about it. " * 20, "You are a careful assistant.", TALK, tools=tools)


@pytest.mark.parametrize(
    ("user", "system"),
    [
        (
            "Provide a detailed summary of our talk above.",
            "You are summarizing a conversation, to go on with it later.",
        ),
        (
            "First, think. Then, generate the <state_snapshot>.",
            "You are the component that summarizes the chat history into a structure.",
        ),
        (
            "CRITICAL: this is no message of the user's.\nSummarize the conversation so far, as was described.",
            "Your task is to create a detailed summary of the conversation so far.",
        ),
    ],
)
def test_function_on_a_conversation_makes_an_errand(user: str, system: str) -> None:
    tools = [{"type": "function", "function": {"name": "read_file"}}]
    assert errand(user, system, TALK)
    assert errand(user, system, TALK, tools=tools)
    assert not errand(OWN, system, TALK, tools=tools)


def test_form_by_a_forced_tool_is_a_sign() -> None:
    form = {"name": "reply", "parameters": {"type": "object", "properties": {"title": {}, "language": {}}}}
    asked = f"Analyze this conversation and give:\n1. its language\n2. a title\n\n{TRANSCRIPT}"
    forced: dict[str, Any] = {"type": "function", "function": {"name": "reply"}}
    tools = [{"type": "function", "function": form}]
    assert errand(asked, tools=tools, tool_choice=forced)
    assert not errand("Which city do I live in?", tools=tools, tool_choice=forced)
    assert not errand(asked, tools=[*tools, {"type": "function", "function": {"name": "f"}}], tool_choice=forced)


def test_search_run_by_the_provider_is_no_tool() -> None:
    asked, system = f"Perform a web search for the query: {OWN}", "You are an assistant for performing a web search."
    assert errand(asked, system, tools=[{"type": "web_search_20250305", "name": "web_search"}])
    assert not errand(asked, "You are a careful assistant.", tools=[{"type": "web_search_20250305"}])


def test_memory_task_of_a_front_end_is_one() -> None:
    system = "Use the `set_memory` tool to save what matters about the user."
    tools = [{"type": "function", "function": {"name": "set_memory"}}]
    assert errand(f"# Current Chat:\n\n{TRANSCRIPT}", system, tools=tools)
    assert not errand(OWN, system, TALK, tools=tools)


@pytest.mark.parametrize("more", [{"max_tokens": 5}, {"response_format": {"type": "json_object"}}])
def test_one_sign_alone_makes_none(more: dict[str, Any]) -> None:
    assert not errand("Which city do I live in?", **more)


def test_structured_reply_of_one_key_is_a_sign() -> None:
    form = {"type": "json_schema", "json_schema": {"schema": {"properties": {"title": {}}}}}
    assert not errand("Which city do I live in?", response_format=form)
    assert errand(f"Find a title for the chat.\n{TRANSCRIPT}", response_format=form)


def test_a_probe_of_one_token_is_one() -> None:
    body = {"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": "quota"}]}
    assert is_errand(messages.read(orjson.dumps(body)), {})


def test_headers_of_coding_agents_name_their_errands() -> None:
    request = chat.read(orjson.dumps({"model": "m", "messages": TALK[:1]}))
    assert not is_errand(request, {"x-claude-code-request-class": "main"})
    assert is_errand(request, {"x-claude-code-request-class": "compaction"})
    assert is_errand(request, {"x-openai-subagent": "compact"})


def test_a_trigger_of_compaction_is_one() -> None:
    items = [{"role": "user", "content": OWN}, {"type": "compaction_trigger"}]
    assert is_errand(responses.read(orjson.dumps({"model": "m", "input": items})), {})
