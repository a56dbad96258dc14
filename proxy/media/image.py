"""Image properties without a model: size, time, place, main colours, thumbnail, perceptual hash."""

from __future__ import annotations

import base64
import colorsys
import io
import re
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from proxy.clock import in_utc
from proxy.media.base import MediaRefused
from proxy.media.limits import Limits

if TYPE_CHECKING:
    from PIL import Image

_FORMATS: Final = {
    "PNG": "image/png", "JPEG": "image/jpeg", "MPO": "image/jpeg", "GIF": "image/gif", "WEBP": "image/webp",
    "TIFF": "image/tiff", "BMP": "image/bmp", "AVIF": "image/avif",
}  # fmt: skip
_OPENED: Final = tuple(name for name in _FORMATS if name != "MPO")  # MPO is opened as JPEG, for its first picture
_THUMBNAIL = (256, 256)
_EXIF, _GPS = 0x8769, 0x8825
_TAKEN, _TAKEN_ZONE, _CHANGED, _CHANGED_ZONE = 0x9003, 0x9011, 0x0132, 0x9010
_MAKE, _MODEL = 0x010F, 0x0110
_TIME = re.compile(r"(\d{4})[:-](\d\d)[:-](\d\d)[ T](\d\d):(\d\d):(\d\d)")
_ZONE = re.compile(r"([+-])(\d\d):(\d\d)")
_SHORT, _TALL, _WIDE = 8, 8, 9
_FIELDS = (48, 48)  # grid of an image for its main colours
_MIN_COLOUR_SHARE = 0.08
_MAX_COLOURS = 3
_DARK, _BRIGHT, _PALE, _GREYISH, _BROWN = 0.16, 0.88, 0.12, 0.2, 0.6
_HUES = (
    (15, "red"), (42, "orange"), (68, "yellow"), (160, "green"), (195, "cyan"), (255, "blue"), (290, "purple"),
    (335, "pink"), (361, "red"),
)  # fmt: skip


def run_image(job: dict[str, Any], tell: Callable[[float], None]) -> dict[str, Any]:
    """Read the image of a job; return a ``Picture`` as plain values."""
    del tell
    image, media_type = opened(Path(job["path"]), Limits(**job["limits"]))
    taken_at, place, camera = _exif(image)
    picture = flat(image)
    small = picture.copy()
    small.thumbnail(_THUMBNAIL)
    return {
        "media_type": media_type,
        "width": picture.width,
        "height": picture.height,
        "phash": dhash(picture),
        "thumbnail": base64.b64encode(_webp(small)).decode(),
        "taken_at": taken_at.isoformat() if taken_at else None,
        "colours": main_colours(small),
        "place": place,
        "camera": camera,
    }


def opened(path: Path | BinaryIO, limits: Limits) -> tuple[Image.Image, str]:
    """Return the image, not decoded yet, and its media type.

    Raises:
        MediaRefused: ``too_many_pixels`` or ``malformed``.
    """
    from PIL import Image, UnidentifiedImageError  # noqa: PLC0415 -- only in the child processes

    Image.MAX_IMAGE_PIXELS = None  # Throughline's own limit follows below
    warnings.simplefilter("ignore")
    Image.init()
    try:
        image = Image.open(path, formats=_OPENED)
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError) as error:
        raise MediaRefused("The image is damaged and cannot be opened.", "malformed") from error
    if image.width * image.height > limits.max_pixels:
        raise MediaRefused(
            f"The image has {image.width} x {image.height} pixels; the limit is {limits.max_pixels} in all "
            "(media.limits).",
            "too_many_pixels",
        )
    return image, _FORMATS[image.format or "PNG"]


def flat(image: Image.Image) -> Image.Image:
    """Return the first frame in RGB, upright, with a white background for transparency.

    Raises:
        MediaRefused: ``malformed``.
    """
    from PIL import Image, ImageOps  # noqa: PLC0415

    try:
        if image.format in ("JPEG", "MPO"):
            image.draft("RGB", (4000, 4000))
        image.seek(0)
        image.load()
        upright = ImageOps.exif_transpose(image)
        if upright.mode.startswith(("I", "F")):
            upright = _eight_bits(upright)
        if upright.mode in ("RGBA", "LA", "PA") or "transparency" in upright.info:
            layer = upright.convert("RGBA")
            ground = Image.new("RGBA", layer.size, "white")
            ground.alpha_composite(layer)
            return ground.convert("RGB")
        return upright.convert("RGB")
    except (OSError, ValueError, SyntaxError, EOFError, IndexError) as error:
        raise MediaRefused("The image is damaged and cannot be decoded.", "malformed") from error


def dhash(image: Image.Image) -> str:
    """Return the difference hash as 16 hex digits: one bit per rise of brightness in a grid of 9 x 8 fields."""
    from PIL import Image  # noqa: PLC0415

    grey = image.convert("L").resize((_WIDE, _TALL), Image.Resampling.BOX).tobytes()
    bits = 0
    for row in range(_TALL):
        for column in range(_SHORT):
            at = row * _WIDE + column
            bits = bits << 1 | (grey[at] < grey[at + 1])
    return f"{bits:016x}"


def distance(one: str, other: str) -> int:
    """Return the Hamming distance of two 64-bit hashes; up to about 10 is most likely the same picture."""
    return (int(one, 16) ^ int(other, 16)).bit_count()


def main_colours(image: Image.Image) -> list[str]:
    """Return the names of at most three colours that cover most of the image, most common first."""
    data = image.resize(_FIELDS).tobytes()
    names = Counter(name_of(*data[at : at + 3]) for at in range(0, len(data), 3))
    fields = names.total()
    return [name for name, count in names.most_common(_MAX_COLOURS) if count >= _MIN_COLOUR_SHARE * fields]


def name_of(red: int, green: int, blue: int) -> str:
    """Return the English name of an RGB colour, 8 bits a channel."""
    hue, saturation, value = colorsys.rgb_to_hsv(red / 255, green / 255, blue / 255)
    if value < _DARK:
        return "black"
    if saturation < _PALE or (saturation < _GREYISH and value < _BROWN):
        return "white" if value > _BRIGHT else "grey"
    name = next(name for below, name in _HUES if hue * 360 < below)
    if name in ("orange", "red") and value < _BROWN and saturation < 0.85 and hue * 360 > 8:
        return "brown"
    return name


def _eight_bits(image: Image.Image) -> Image.Image:
    low, high = image.getextrema()
    span = (high - low) or 1  # type: ignore[operator]
    return image.convert("F").point(lambda value: (value - low) * 255 / span).convert("L")


def _webp(image: Image.Image) -> bytes:
    out = io.BytesIO()
    image.save(out, "WEBP", quality=70, method=4)
    return out.getvalue()


def _exif(image: Image.Image) -> tuple[datetime | None, tuple[float, float] | None, str]:
    try:
        exif = image.getexif()
        inner, gps = dict(exif.get_ifd(_EXIF)), dict(exif.get_ifd(_GPS))
        taken_at = _when(inner.get(_TAKEN), inner.get(_TAKEN_ZONE)) or _when(
            exif.get(_CHANGED), inner.get(_CHANGED_ZONE)
        )
        make, model = (str(exif.get(tag) or "").strip(" \x00") for tag in (_MAKE, _MODEL))
        return taken_at, _where(gps), (model if model.startswith(make) else f"{make} {model}").strip()[:100]
    except Exception:  # noqa: BLE001 -- cameras and editors write invalid EXIF; the picture is used without it
        return None, None, ""


def _when(text: Any, zone: Any) -> datetime | None:
    found = _TIME.match(str(text or ""))
    if not found:
        return None
    try:
        at = datetime(*map(int, found.groups()))  # type: ignore[arg-type]  # noqa: DTZ001 -- the zone follows, if any
    except ValueError:
        return None
    offset = _ZONE.fullmatch(str(zone or "").strip(" \x00"))
    if offset is None:
        return at
    minutes = int(offset[1] + "1") * (int(offset[2]) * 60 + int(offset[3]))
    zoned = at.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    with suppress(ValueError):
        in_utc(zoned)
        return zoned
    return None


def _where(gps: dict[int, Any]) -> tuple[float, float] | None:
    if not {1, 2, 3, 4} <= gps.keys():
        return None
    latitude = _degrees(gps[2]) * (-1 if str(gps[1]).upper().startswith("S") else 1)
    longitude = _degrees(gps[4]) * (-1 if str(gps[3]).upper().startswith("W") else 1)
    is_real = abs(latitude) <= 90 and abs(longitude) <= 180 and (latitude or longitude)
    return (round(latitude, 6), round(longitude, 6)) if is_real else None


def _degrees(parts: Any) -> float:
    degrees, minutes, seconds = (float(part) for part in parts)
    return degrees + minutes / 60 + seconds / 3600
