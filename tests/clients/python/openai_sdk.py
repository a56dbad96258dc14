"""The openai SDK, any major version: chat completions, and the Responses API."""

import json

import openai
from checks import COUNT, FACT, HELLO, IMAGE, MODEL, QUESTION, Checks, wait_learned, weather
from pydantic import BaseModel

client = openai.OpenAI()
checks = Checks(openai.__version__)
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


class Town(BaseModel):
    name: str
    people: int


def say(text: str) -> str:
    reply = client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": text}])
    return reply.choices[0].message.content or ""


def stream() -> str:
    chunks = client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": HELLO}], stream=True)
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)


def tools() -> str:
    tool = {"type": "function", "function": {"name": "weather", "parameters": SCHEMA}}
    messages = [{"role": "user", "content": "How is the weather in Paris?"}]
    with client.chat.completions.stream(model=MODEL, messages=messages, tools=[tool]) as events:
        message = events.get_final_completion().choices[0].message
    (call,) = message.tool_calls
    answer = weather(**json.loads(call.function.arguments))
    messages += [
        message.model_dump(exclude_none=True, exclude={"parsed"}),
        {"role": "tool", "tool_call_id": call.id, "content": answer},
    ]
    messages[1]["tool_calls"][0]["function"].pop("parsed_arguments", None)
    reply = client.chat.completions.create(model=MODEL, messages=messages, tools=[tool])
    return reply.choices[0].message.content or ""


def structured() -> str:
    messages = [{"role": "user", "content": COUNT}]
    reply = client.chat.completions.parse(model=MODEL, messages=messages, response_format=Town)
    return str(reply.choices[0].message.parsed)


def image() -> str:
    parts = [{"type": "text", "text": HELLO}, {"type": "image_url", "image_url": {"url": IMAGE}}]
    reply = client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": parts}])
    return reply.choices[0].message.content or ""


def responses() -> str:
    return client.responses.create(model=MODEL, input=HELLO).output_text


def responses_stream() -> str:
    with client.responses.stream(model=MODEL, input=HELLO) as events:
        return events.get_final_response().output_text


def responses_tools() -> str:
    tool = {"type": "function", "name": "weather", "parameters": SCHEMA, "strict": False}
    given = [{"role": "user", "content": "How is the weather in Paris?"}]
    reply = client.responses.create(model=MODEL, input=given, tools=[tool])
    (call,) = reply.output
    answer = weather(**json.loads(call.arguments))
    given += [
        call.model_dump(exclude_none=True),
        {"type": "function_call_output", "call_id": call.call_id, "output": answer},
    ]
    return client.responses.create(model=MODEL, input=given, tools=[tool]).output_text


def responses_structured() -> str:
    return str(client.responses.parse(model=MODEL, input=COUNT, text_format=Town).output_parsed)


def responses_image() -> str:
    parts = [{"type": "input_text", "text": HELLO}, {"type": "input_image", "image_url": IMAGE, "detail": "auto"}]
    return client.responses.create(model=MODEL, input=[{"role": "user", "content": parts}]).output_text


checks.run("text", lambda: say(FACT), "You said")
checks.run("stream", stream, HELLO)
checks.run("tools", tools, "Paris is sunny")
checks.run("structured", structured, "name='Paris' people=42")
checks.run("image", image, "1 image(s)")
checks.run("responses", responses, HELLO)
checks.run("responses stream", responses_stream, HELLO)
checks.run("responses tools", responses_tools, "Paris is sunny")
checks.run("responses structured", responses_structured, "name='Paris' people=42")
checks.run("responses image", responses_image, "1 image(s)")
wait_learned()
checks.run("memory", lambda: say(QUESTION), "Shram")
checks.run("responses memory", lambda: client.responses.create(model=MODEL, input=QUESTION).output_text, "Shram")
checks.report()
