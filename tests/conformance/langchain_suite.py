"""langchain-tests' integration tests of ChatOpenAI; ``make conformance`` runs them in a separate environment."""

from typing import Any

from langchain_openai import ChatOpenAI
from langchain_tests.integration_tests import ChatModelIntegrationTests


class TestChatOpenAI(ChatModelIntegrationTests):
    """The chat completions tests; base URL and key are in the environment."""

    responses = False

    @property
    def chat_model_class(self) -> type[ChatOpenAI]:
        return ChatOpenAI

    @property
    def chat_model_params(self) -> dict[str, Any]:
        return {"model": "gpt-4o-mini", "use_responses_api": self.responses, "stream_usage": True, "max_retries": 0}

    @property
    def supports_image_inputs(self) -> bool:
        return True

    @property
    def supports_json_mode(self) -> bool:
        return True


class TestChatOpenAIByResponses(TestChatOpenAI):
    """The same tests over the Responses API."""

    responses = True
