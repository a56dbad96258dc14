"""instructor around the openai SDK."""

from importlib.metadata import version

import instructor
from checks import COUNT, FACT, IMAGE, MODEL, QUESTION, Checks, wait_learned
from openai import OpenAI
from pydantic import BaseModel

checks = Checks(version("instructor"))


class Town(BaseModel):
    name: str
    people: int


class Words(BaseModel):
    text: str


def ask(text, model, mode=instructor.Mode.TOOLS, **options):
    client = instructor.from_openai(OpenAI(), mode=mode)
    return client.chat.completions.create(
        model=MODEL, messages=[{"role": "user", "content": text}], response_model=model, **options
    )


def stream() -> str:
    client = instructor.from_openai(OpenAI())
    partials = client.chat.completions.create_partial(
        model=MODEL, messages=[{"role": "user", "content": COUNT}], response_model=Town
    )
    return str(list(partials)[-1])


def image() -> str:
    parts = [{"type": "text", "text": COUNT}, {"type": "image_url", "image_url": {"url": IMAGE}}]
    return str(ask(parts, Town))


def raw(text: str) -> str:
    made = ask(text, None)
    return made.choices[0].message.content or ""


checks.run("text", lambda: raw(FACT), "You said")
checks.run("stream", stream, "name='Paris' people=42")
checks.run("tools", lambda: str(ask(COUNT, Town)), "name='Paris' people=42")
checks.run("structured", lambda: str(ask(COUNT, Town, instructor.Mode.JSON_SCHEMA)), "name='Paris' people=42")
checks.run("image", image, "name='Paris' people=42")
wait_learned()
checks.run("memory", lambda: raw(QUESTION), "Shram")
checks.report()
