"""Settings of files, images and uploads."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr

from proxy.settings.section import Section


class MediaSettings(Section):
    """Files and images: what is read of them, within which limits."""

    max_file_bytes: int = Field(48 * 2**20, ge=1024, description="Largest file read, in bytes.")
    limits: Literal["small", "normal", "large"] = Field(
        "normal",
        description="`small`, `normal` or `large`: limits on reading one file, by pages, pixels, time, RAM; "
        "see deploy/files.md.",
    )
    ocr: Literal["auto", "rapidocr", "tesseract", "off"] = Field(
        "auto",
        description="`rapidocr` (the extra `ocr`), `tesseract` (as installed) or `off`; `auto`: Tesseract "
        "where it has `ocr_languages`, else the extra.",
    )
    ocr_languages: list[str] = Field(
        [], description="Languages that Tesseract reads, by its names: `[rus, eng]`; empty: English."
    )
    fetch_urls: bool = Field(
        False, description="Fetch images and files that a message names by URL; never from private addresses."
    )
    caption_model: str | None = Field(
        None, description="Model that describes images, as LiteLLM names it; unset: only the text in them is read."
    )
    caption_api_key: SecretStr | None = Field(
        None, description="Key of `caption_model`; unset: the provider's own variable."
    )
    caption_base_url: str | None = Field(None, description="Base URL of `caption_model`; unset: the provider's.")
    caption_deadline_ms: int = Field(
        10_000,
        ge=0,
        description="Milliseconds that a request waits for words in place of images and files that the model "
        "cannot take.",
    )
    text_only_models: list[str] = Field(
        ["demo"], description="Patterns of models that take no images, besides those of the model map."
    )
    tool_results: bool = Field(
        True, description="Read images and files in the results of tools too; False: they are sent on and not kept."
    )


class FilesSettings(Section):
    """Handling of uploads to `/v1/files`."""

    handling: Literal["keep", "forward", "both"] = Field(
        "keep", description="Uploads are kept as memory (`keep`), sent to the provider (`forward`), or both (`both`)."
    )
