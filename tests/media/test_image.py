"""Images: their description without a model, within limits, and the text in them."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw, ImageFont

from proxy.media.base import MediaRefused
from proxy.media.image import distance, name_of
from proxy.media.limits import Limits
from proxy.media.processes import end_idle
from proxy.media.read import read_image, read_text_of_image
from tests.media import made

pytestmark = pytest.mark.anyio

LIMITS = Limits()
DIGITS = 16


@pytest.fixture(scope="module", autouse=True)
def _no_process_left():
    yield
    end_idle()


def drawn(size: tuple[int, int] = (320, 200)) -> Image.Image:
    """Return a picture of a blue house on green grass."""
    image = Image.new("RGB", size, (90, 150, 240))
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, size[1] * 0.7, size[0], size[1]), fill=(40, 160, 50))
    draw.rectangle((size[0] * 0.3, size[1] * 0.3, size[0] * 0.6, size[1] * 0.8), fill=(200, 30, 30))
    return image


def written(*rows: str) -> Image.Image:
    image = Image.new("RGB", (640, 60 * len(rows) + 40), "white")
    font = ImageFont.load_default(size=36)
    for number, row in enumerate(rows):
        ImageDraw.Draw(image).text((30, 20 + 60 * number), row, fill="black", font=font)
    return image


def saved(folder: Path, image: Image.Image, name: str = "picture.png", **options: object) -> Path:
    image.save(folder / name, **options)
    return folder / name


async def reason_of(path: Path, limits: Limits = LIMITS) -> str:
    with pytest.raises(MediaRefused) as caught:
        await read_image(path, limits)
    return caught.value.reason


async def test_picture_is_described(tmp_path):
    picture = await read_image(saved(tmp_path, drawn()), LIMITS)
    assert (picture.media_type, picture.width, picture.height) == ("image/png", 320, 200)
    assert picture.colours == ("blue", "green", "red")
    assert len(picture.phash) == DIGITS
    with Image.open(io.BytesIO(picture.thumbnail)) as thumbnail:
        assert (thumbnail.format, max(thumbnail.size)) == ("WEBP", 256)
    assert (picture.taken_at, picture.place, picture.camera) == (None, None, "")


async def test_only_copies_of_a_picture_are_near(tmp_path):
    original = await read_image(saved(tmp_path, drawn((640, 400))), LIMITS)
    small = await read_image(saved(tmp_path, drawn((640, 400)).resize((123, 77)), "small.png"), LIMITS)
    worse = await read_image(saved(tmp_path, drawn((640, 400)), "worse.jpg", quality=15), LIMITS)
    other = await read_image(saved(tmp_path, written("another picture", "altogether"), "other.png"), LIMITS)
    assert distance(original.phash, small.phash) <= 4
    assert distance(original.phash, worse.phash) <= 4
    assert distance(original.phash, other.phash) > 10


async def test_exif_is_read_and_the_picture_turned(tmp_path):
    exif = Image.Exif()
    exif[0x0112], exif[0x010F], exif[0x0110] = 6, "Maker", "Maker One"
    exif.get_ifd(0x8769).update({0x9003: "2024:05:06 07:08:09", 0x9011: "+02:00"})
    exif.get_ifd(0x8825).update({1: "N", 2: (52.0, 30.0, 0.0), 3: "W", 4: (13.0, 15.0, 36.0)})
    picture = await read_image(saved(tmp_path, drawn(), "p.jpg", exif=exif), LIMITS)
    assert (picture.width, picture.height) == (200, 320)
    assert picture.taken_at == datetime(2024, 5, 6, 7, 8, 9, tzinfo=timezone(timedelta(hours=2)))
    assert picture.taken_at.astimezone(UTC).hour == 5
    assert picture.place == (52.5, -13.26)
    assert picture.camera == "Maker One"


async def test_exif_time_beyond_utc_is_left_out(tmp_path):
    exif = Image.Exif()
    exif[0x0110] = "One"
    exif.get_ifd(0x8769).update({0x9003: "9999:12:31 23:59:59", 0x9011: "-05:00"})
    picture = await read_image(saved(tmp_path, drawn(), "p.jpg", exif=exif), LIMITS)
    assert (picture.taken_at, picture.camera) == (None, "One")


async def test_broken_exif_does_not_matter(tmp_path):
    exif = Image.Exif()
    exif.get_ifd(0x8769).update({0x9003: "yesterday", 0x9011: "noon"})
    exif.get_ifd(0x8825).update({1: "N", 2: (999.0, 0.0, 0.0), 3: "E", 4: (0.0, 0.0, 0.0)})
    picture = await read_image(saved(tmp_path, drawn(), "p.jpg", exif=exif), LIMITS)
    assert (picture.taken_at, picture.place) == (None, None)


@pytest.mark.parametrize("name", ["p.gif", "p.webp", "p.tiff", "p.bmp", "p.jpg", "p.png", "p.avif"])
async def test_each_format_is_read(tmp_path, name):
    assert (await read_image(saved(tmp_path, drawn(), name), LIMITS)).width == 320


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "I;16", "F", "CMYK"])
async def test_each_kind_of_pixels_is_read(tmp_path, mode):
    assert (await read_image(saved(tmp_path, drawn().convert(mode), "p.tiff"), LIMITS)).width == 320


async def test_first_picture_of_several_counts(tmp_path):
    frames = [Image.new("RGB", (20, 20), colour) for colour in ("red", "blue", "blue")]
    picture = await read_image(saved(tmp_path, frames[0], "p.gif", save_all=True, append_images=frames[1:]), LIMITS)
    assert picture.colours == ("red",)


async def test_picture_of_excessive_pixels_is_refused_undecoded(tmp_path):
    path = made.saved(tmp_path, made.png(12_000, 12_000))
    assert path.stat().st_size < 1000
    assert await reason_of(path) == "too_many_pixels"


@pytest.mark.parametrize("data", [made.png(40, 40)[:60], b"\x89PNG\r\n\x1a\n", b"GIF89a", b"\xff\xd8\xff\xe0", b"tea"])
async def test_broken_picture_is_refused(tmp_path, data):
    assert await reason_of(made.saved(tmp_path, data)) == "malformed"


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_distance_counts_bits(one, other):
    assert distance(f"{one:016x}", f"{other:016x}") == bin(one ^ other).count("1")


@pytest.mark.parametrize(
    ("colour", "name"),
    [
        ((0, 0, 0), "black"), ((255, 255, 255), "white"), ((128, 128, 128), "grey"), ((220, 20, 20), "red"),
        ((20, 200, 40), "green"), ((30, 60, 220), "blue"), ((250, 240, 40), "yellow"), ((250, 140, 20), "orange"),
        ((110, 70, 40), "brown"), ((130, 40, 200), "purple"), ((255, 105, 180), "pink"), ((0, 200, 210), "cyan"),
    ],
)  # fmt: skip
def test_colours_have_names(colour, name):
    assert name_of(*colour) == name


async def test_text_is_read_off_a_picture(tmp_path):
    path = saved(tmp_path, written("The kettle is blue", "Room 42, second floor"))
    assert await read_text_of_image(path, LIMITS) == "The kettle is blue\nRoom 42, second floor"


async def test_page_that_lies_on_its_side_is_turned(tmp_path):
    path = saved(tmp_path, written("The kettle is blue", "Room 42, second floor").rotate(90, expand=True))
    assert "The kettle is blue" in await read_text_of_image(path, LIMITS)


async def test_nothing_is_read_where_that_is_switched_off(tmp_path):
    assert await read_text_of_image(saved(tmp_path, written("tea")), Limits(ocr="off")) == ""
