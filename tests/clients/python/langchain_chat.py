"""LangChain's ChatOpenAI and its agent."""

from importlib.metadata import version

from checks import COUNT, FACT, HELLO, IMAGE, MODEL, QUESTION, Checks, wait_learned, weather
from langchain.agents import create_agent
from langchain_openai import ChatOpenAI
from pydantic import BaseModel

model = ChatOpenAI(model=MODEL)
checks = Checks(version("langchain-openai"))


class Town(BaseModel):
    """A town."""

    name: str
    people: int


def tools() -> str:
    agent = create_agent(model, tools=[weather])
    return agent.invoke({"messages": [("user", "How is the weather in Paris?")]})["messages"][-1].text


def image() -> str:
    parts = [{"type": "text", "text": HELLO}, {"type": "image_url", "image_url": {"url": IMAGE}}]
    return model.invoke([("user", parts)]).text


checks.run("text", lambda: model.invoke(FACT).text, "You said")
checks.run("stream", lambda: "".join(chunk.text for chunk in model.stream(HELLO)), HELLO)
checks.run("tools", tools, "Paris is sunny")
checks.run("structured", lambda: str(model.with_structured_output(Town).invoke(COUNT)), "name='Paris' people=42")
checks.run("image", image, "1 image(s)")
wait_learned()
checks.run("memory", lambda: model.invoke(QUESTION).text, "Shram")
checks.report()
