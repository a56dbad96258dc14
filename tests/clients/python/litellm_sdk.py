"""LiteLLM's SDK."""

import json
from importlib.metadata import version

import litellm
from checks import BASE_URL, COUNT, FACT, HELLO, IMAGE, KEY, MODEL, QUESTION, Checks, wait_learned, weather
from pydantic import BaseModel

checks = Checks(version("litellm"))
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


class Town(BaseModel):
    name: str
    people: int


def ask(messages, **options):
    given = [{"role": "user", "content": messages}] if not isinstance(messages, list) else messages
    return litellm.completion(model=f"openai/{MODEL}", api_base=BASE_URL, api_key=KEY, messages=given, **options)


def text(messages, **options) -> str:
    return ask(messages, **options).choices[0].message.content or ""


def tools() -> str:
    tool = {"type": "function", "function": {"name": "weather", "parameters": SCHEMA}}
    messages = [{"role": "user", "content": "How is the weather in Paris?"}]
    message = ask(messages, tools=[tool]).choices[0].message
    (call,) = message.tool_calls
    answer = weather(**json.loads(call.function.arguments))
    return text(
        [*messages, message.model_dump(), {"role": "tool", "tool_call_id": call.id, "content": answer}], tools=[tool]
    )


def image() -> str:
    parts = [{"type": "text", "text": HELLO}, {"type": "image_url", "image_url": {"url": IMAGE}}]
    return text([{"role": "user", "content": parts}])


checks.run("text", lambda: text(FACT), "You said")
checks.run("stream", lambda: "".join(one.choices[0].delta.content or "" for one in ask(HELLO, stream=True)), HELLO)
checks.run("tools", tools, "Paris is sunny")
checks.run("structured", lambda: str(Town(**json.loads(text(COUNT, response_format=Town)))), "name='Paris' people=42")
checks.run("image", image, "1 image(s)")
wait_learned()
checks.run("memory", lambda: text(QUESTION), "Shram")
checks.report()
