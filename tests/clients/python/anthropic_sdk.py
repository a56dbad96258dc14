"""The Anthropic SDK, by /v1/messages."""

import json

import anthropic
from checks import BASE_URL, COUNT, FACT, HELLO, KEY, PIXEL, QUESTION, Checks, wait_learned, weather

client = anthropic.Anthropic(base_url=BASE_URL.removesuffix("/v1"), api_key=KEY)
checks = Checks(anthropic.__version__)
MODEL = "claude-sonnet-4-5"
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOWN = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "people": {"type": "integer"}},
    "required": ["name", "people"],
    "additionalProperties": False,
}


def ask(given, **options):
    messages = [{"role": "user", "content": given}] if isinstance(given, str) else given
    return client.messages.create(model=MODEL, max_tokens=100, messages=messages, **options)


def stream() -> str:
    with client.messages.stream(model=MODEL, max_tokens=100, messages=[{"role": "user", "content": HELLO}]) as events:
        return "".join(events.text_stream)


def tools() -> str:
    tool = {"name": "weather", "input_schema": SCHEMA}
    messages = [{"role": "user", "content": "How is the weather in Paris?"}]
    reply = ask(messages, tools=[tool])
    (call,) = reply.content
    result = {"type": "tool_result", "tool_use_id": call.id, "content": weather(**call.input)}
    messages += [{"role": "assistant", "content": reply.content}, {"role": "user", "content": [result]}]
    return ask(messages, tools=[tool]).content[0].text


def structured() -> str:
    reply = ask(COUNT, extra_body={"output_config": {"format": {"type": "json_schema", "schema": TOWN}}})
    return str(json.loads(reply.content[0].text))


def image() -> str:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
    return ask([{"role": "user", "content": [picture, {"type": "text", "text": HELLO}]}]).content[0].text


checks.run("text", lambda: ask(FACT).content[0].text, "You said")
checks.run("stream", stream, HELLO)
checks.run("tools", tools, "Paris is sunny")
checks.run("structured", structured, "{'name': 'Paris', 'people': 42}")
checks.run("image", image, "1 image(s)")
wait_learned()
checks.run("memory", lambda: ask(QUESTION).content[0].text, "Shram")
checks.report()
