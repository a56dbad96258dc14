"""Names of an image's main colours."""

from __future__ import annotations

import colorsys
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL import Image

_FIELDS = (48, 48)
_MIN_SHARE = 0.08
_MAX = 3
_DARK, _BRIGHT, _PALE, _GREYISH, _BROWN = 0.16, 0.88, 0.12, 0.2, 0.6
_HUES = (
    (15, "red"), (42, "orange"), (68, "yellow"), (160, "green"), (195, "cyan"), (255, "blue"), (290, "purple"),
    (335, "pink"), (361, "red"),
)  # fmt: skip


def main_colours(image: Image.Image) -> list[str]:
    """Return the names of at most three colours that cover most of the image, the most common first."""
    data = image.resize(_FIELDS).tobytes()
    names = Counter(name_of(*data[at : at + 3]) for at in range(0, len(data), 3))
    fields = names.total()
    return [name for name, count in names.most_common(_MAX) if count >= _MIN_SHARE * fields]


def name_of(red: int, green: int, blue: int) -> str:
    """Return what a colour of 8 bits a channel is called in English."""
    hue, saturation, value = colorsys.rgb_to_hsv(red / 255, green / 255, blue / 255)
    if value < _DARK:
        return "black"
    if saturation < _PALE or (saturation < _GREYISH and value < _BROWN):
        return "white" if value > _BRIGHT else "grey"
    name = next(name for below, name in _HUES if hue * 360 < below)
    if name in ("orange", "red") and value < _BROWN and saturation < 0.85 and hue * 360 > 8:
        return "brown"
    return name
