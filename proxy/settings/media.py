"""Settings of files, images and uploads."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr

from proxy.settings.section import Section


class MediaSettings(Section):
    """Files and images: what is read of them, within which limits."""

    max_file_bytes: int = Field(48 * 2**20, ge=1024, description="Largest file read, in bytes.")
    limits: Literal["small", "normal", "large"] = Field(
        "normal", description="What reading one file may take: pages, pixels, cells, time, memory; see deploy/files.md."
    )
    ocr: Literal["auto", "rapidocr", "tesseract", "off"] = Field(
        "auto",
        description="What reads text off pictures: the extra `ocr` (`rapidocr`), `tesseract` where it is installed, or "
        "nothing (`off`); `auto`: Tesseract where it has `ocr_languages`, else the extra.",
    )
    ocr_languages: list[str] = Field(
        [], description="Languages that Tesseract is to read, by its names: `[rus, eng]`; unset: English."
    )
    fetch_urls: bool = Field(
        False, description="Fetch images and files that a message names by URL; private addresses never."
    )
    caption_model: str | None = Field(
        None, description="Model that describes images, as LiteLLM names it; unset: only what is written in them."
    )
    caption_api_key: SecretStr | None = Field(None, description="Key for it; unset: the provider's own variable.")
    caption_base_url: str | None = Field(None, description="Base URL for it; unset: the provider's.")
    caption_deadline_ms: int = Field(
        10_000, ge=0, description="Milliseconds a request with images or files may wait for what is put in their place."
    )
    text_only_models: list[str] = Field(
        ["demo"], description="Patterns of models that take no images, beside those of which the model map says so."
    )
    tool_results: bool = Field(
        True, description="Read images and files in the results of tools as well; False: they go up and are not kept."
    )


class FilesSettings(Section):
    """Handling of uploads to `/v1/files`."""

    handling: Literal["keep", "forward", "both"] = Field(
        "keep", description="`keep`: they stay here, as memory; `forward`: the provider's; `both`: here and there."
    )
