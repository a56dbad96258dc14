"""openai-agents: by the Responses API, which is its default, and by chat completions."""

import asyncio
from importlib.metadata import version

from agents import Agent, Runner, function_tool, set_default_openai_api, set_tracing_disabled
from checks import COUNT, FACT, HELLO, IMAGE, MODEL, QUESTION, Checks, wait_learned, weather
from pydantic import BaseModel

set_tracing_disabled(True)
checks = Checks(version("openai-agents"))
loop = asyncio.Runner()


class Town(BaseModel):
    name: str
    people: int


def say(text, **options) -> str:
    return str(loop.run(Runner.run(Agent(name="a", model=MODEL, **options), text)).final_output)


def stream() -> str:
    async def run() -> str:
        running = Runner.run_streamed(Agent(name="a", model=MODEL), HELLO)
        deltas = [event.data.delta async for event in running.stream_events()
                  if event.type == "raw_response_event" and event.data.type == "response.output_text.delta"]  # fmt: skip
        return "".join(deltas)

    return loop.run(run())


def image() -> str:
    parts = [{"type": "input_text", "text": HELLO}, {"type": "input_image", "image_url": IMAGE, "detail": "auto"}]
    return say([{"role": "user", "content": parts}])


def by(api: str, prefix: str) -> None:
    set_default_openai_api(api)
    tool = function_tool(weather)
    checks.run(f"{prefix}text", lambda: say(FACT), "You said")
    checks.run(f"{prefix}stream", stream, HELLO)
    checks.run(f"{prefix}tools", lambda: say("How is the weather in Paris?", tools=[tool]), "Paris is sunny")
    checks.run(f"{prefix}structured", lambda: say(COUNT, output_type=Town), "name='Paris' people=42")
    checks.run(f"{prefix}image", image, "1 image(s)")
    wait_learned()
    checks.run(f"{prefix}memory", lambda: say(QUESTION), "Shram")


by("responses", "responses ")
by("chat_completions", "")
checks.report()
