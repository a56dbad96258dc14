"""The limits that go along to the process that reads a file."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from proxy.settings.media import MediaSettings


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on reading one file; named as the settings are."""

    max_file_bytes: int
    max_pages: int
    max_pixels: int
    max_cells: int
    max_text_chars: int
    max_unpacked_bytes: int

    @classmethod
    def of(cls, settings: MediaSettings) -> Limits:
        """Return the limits that the settings name."""
        return cls(**{one.name: getattr(settings, one.name) for one in fields(cls)})

    def to_dict(self) -> dict[str, Any]:
        """Return them for the way to another process."""
        return asdict(self)
