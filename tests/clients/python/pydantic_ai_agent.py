"""pydantic-ai: its chat model, and its Responses model."""

import asyncio
import base64
from importlib.metadata import version

from checks import COUNT, FACT, HELLO, MODEL, PIXEL, QUESTION, Checks, wait_learned, weather
from pydantic import BaseModel
from pydantic_ai import Agent, BinaryContent, NativeOutput

checks = Checks(version("pydantic-ai-slim"))


class Town(BaseModel):
    name: str
    people: int


def say(model, given, **options) -> str:
    return str(Agent(model, **options).run_sync(given).output)


def stream(model) -> str:
    async def run() -> str:
        async with Agent(model).run_stream(HELLO) as running:
            return "".join([piece async for piece in running.stream_text(delta=True)])

    return asyncio.run(run())


def by(model: str, prefix: str) -> None:
    picture = BinaryContent(base64.b64decode(PIXEL), media_type="image/png")
    checks.run(f"{prefix}text", lambda: say(model, FACT), "You said")
    checks.run(f"{prefix}stream", lambda: stream(model), HELLO)
    checks.run(f"{prefix}tools", lambda: say(model, "How is the weather in Paris?", tools=[weather]), "Paris is sunny")
    checks.run(
        f"{prefix}structured", lambda: say(model, COUNT, output_type=NativeOutput(Town)), "name='Paris' people=42"
    )
    checks.run(f"{prefix}image", lambda: say(model, [HELLO, picture]), "1 image(s)")
    wait_learned()
    checks.run(f"{prefix}memory", lambda: say(model, QUESTION), "Shram")


by(f"openai-chat:{MODEL}", "")
by(f"openai-responses:{MODEL}", "responses ")
checks.report()
