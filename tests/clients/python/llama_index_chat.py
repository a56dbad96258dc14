"""LlamaIndex with its OpenAI-compatible model."""

import asyncio
from importlib.metadata import version

from checks import BASE_URL, COUNT, FACT, HELLO, KEY, MODEL, PIXEL, QUESTION, Checks, wait_learned, weather
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage, ImageBlock, TextBlock
from llama_index.llms.openai_like import OpenAILike
from pydantic import BaseModel

model = OpenAILike(
    model=MODEL,
    api_base=BASE_URL,
    api_key=KEY,
    is_chat_model=True,
    is_function_calling_model=True,
    should_use_structured_outputs=True,
)
checks = Checks(version("llama-index-core"))


class Town(BaseModel):
    """A town."""

    name: str
    people: int


def say(text: str) -> str:
    return model.chat([ChatMessage(role="user", content=text)]).message.content or ""


def tools() -> str:
    async def run() -> str:
        return str(await FunctionAgent(tools=[weather], llm=model).run("How is the weather in Paris?"))

    return asyncio.run(run())


def structured() -> str:
    return str(model.as_structured_llm(Town).chat([ChatMessage(role="user", content=COUNT)]).raw)


def image() -> str:
    blocks = [TextBlock(text=HELLO), ImageBlock(image=PIXEL.encode(), image_mimetype="image/png")]
    return model.chat([ChatMessage(role="user", blocks=blocks)]).message.content or ""


def stream() -> str:
    return "".join(part.delta or "" for part in model.stream_chat([ChatMessage(role="user", content=HELLO)]))


checks.run("text", lambda: say(FACT), "You said")
checks.run("stream", stream, HELLO)
checks.run("tools", tools, "Paris is sunny")
checks.run("structured", structured, "name='Paris' people=42")
checks.run("image", image, "1 image(s)")
wait_learned()
checks.run("memory", lambda: say(QUESTION), "Shram")
checks.report()
