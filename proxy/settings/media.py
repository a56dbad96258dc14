"""Settings of files, images and uploads."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr

from proxy.settings.section import Section


class MediaSettings(Section):
    """Files and images: what is read of them, within which limits."""

    max_file_bytes: int = Field(48 * 2**20, ge=1024, description="Largest file read, in bytes.")
    max_pages: int = Field(3000, ge=1, description="Most pages of a document; one with more is refused.")
    max_pixels: int = Field(40_000_000, ge=1, description="Most pixels of an image; one with more is refused.")
    max_cells: int = Field(2_000_000, ge=1, description="Most cells of a sheet; a workbook with more is refused.")
    max_text_chars: int = Field(10_000_000, ge=1000, description="Most characters read of a document.")
    max_unpacked_bytes: int = Field(
        512 * 2**20, ge=2**20, description="Most bytes that a packed file (DOCX, EPUB …) may unpack to."
    )
    parse_timeout_s: float = Field(120.0, gt=0, description="Seconds that reading one file may take.")
    parse_cpu_s: float = Field(120.0, gt=0, description="The same in seconds of processor time.")
    parse_memory_bytes: int = Field(
        1536 * 2**20, ge=128 * 2**20, description="Address space of the process that reads a file, in bytes."
    )
    ocr: Literal["auto", "rapidocr", "tesseract", "off"] = Field(
        "auto",
        description="What reads text off pictures: the extra `ocr` (`rapidocr`), `tesseract` where it is installed, or "
        "nothing (`off`); `auto`: Tesseract where it has `ocr_languages`, else the extra.",
    )
    ocr_languages: list[str] = Field(
        [], description="Languages that Tesseract is to read, by its names: `[rus, eng]`; unset: English."
    )
    ocr_max_pages: int = Field(100, ge=0, description="Most pages of a document that are read off pictures.")
    ocr_timeout_s: float = Field(60.0, gt=0, description="Seconds that reading one picture may take.")
    ocr_memory_bytes: int = Field(
        4 * 2**30, ge=2**30, description="Address space of the process that reads pictures, in bytes."
    )
    fetch_urls: bool = Field(
        False, description="Fetch images and files that a message names by URL; private addresses never."
    )
    fetch_timeout_s: float = Field(15.0, gt=0, description="Seconds that fetching one may take.")
    fetch_max_redirects: int = Field(3, ge=0, le=10, description="Redirects followed, each checked anew.")
    caption_model: str | None = Field(
        None, description="Model that describes images, as LiteLLM names it; unset: only what is written in them."
    )
    caption_api_key: SecretStr | None = Field(None, description="Key for it; unset: the provider's own variable.")
    caption_base_url: str | None = Field(None, description="Base URL for it; unset: the provider's.")
    caption_timeout_s: float = Field(60.0, gt=0, description="Seconds that describing one image may take.")
    caption_deadline_ms: int = Field(
        10_000, ge=0, description="Milliseconds a request with images or files may wait for what is put in their place."
    )
    text_only_models: list[str] = Field(
        ["demo"], description="Patterns of models that take no images, beside those of which the model map says so."
    )
    tool_results: bool = Field(
        True, description="Read images and files in the results of tools as well; False: they go up and are not kept."
    )
    document_tokens: int = Field(
        4000, ge=100, description="Tokens of outline and passages that stand in for a document larger than the window."
    )


class FilesSettings(Section):
    """Handling of uploads to `/v1/files`."""

    handling: Literal["keep", "forward", "both"] = Field(
        "keep", description="`keep`: they stay here, as memory; `forward`: the provider's; `both`: here and there."
    )
    keep_purposes: list[str] = Field(
        ["user_data", "vision", "assistants"],
        description="Purposes of uploads that are kept; those of any other are the provider's alone.",
    )
