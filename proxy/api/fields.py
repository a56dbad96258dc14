"""Fields that bodies of several routers share."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from proxy.text.secrets import redact


def worded(text: str) -> str:
    """Return a text that holds more than blanks.

    Raises:
        ValueError: If it does not.
    """
    if not text.strip():
        raise ValueError("it is blank; send some words")
    return text


# To be stored, or looked for among what is.
Text = Annotated[str, Field(min_length=1, max_length=20_000), AfterValidator(worded), AfterValidator(redact)]
