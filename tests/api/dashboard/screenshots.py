"""``make screenshots``: each page in light and dark, as a small WebP file in ``deploy/pages``."""

from __future__ import annotations

import tempfile
from pathlib import Path

from PIL import Image

from tests.api.dashboard.scene import IS_MISSING, NEEDS, ROOT, furnished, walked

PAGES = ROOT / "deploy" / "pages"
MAX_HEIGHT = 1800  # pixels; longer pages are cut
QUALITY = 60  # of 100


def main() -> None:
    """Walk through the pages, take screenshots and shrink them."""
    if IS_MISSING:
        raise SystemExit(f"This {NEEDS}.")
    with tempfile.TemporaryDirectory() as name:
        folder, shots = Path(name), Path(name) / "shots"
        shots.mkdir()
        with furnished(folder / "data") as scene:
            walked(scene, str(shots))
        for old in PAGES.glob("*.webp"):
            old.unlink()
        for path in sorted(shots.glob("*.png")):
            with Image.open(path) as shot:
                cut = shot.convert("RGB").crop((0, 0, shot.width, min(shot.height, MAX_HEIGHT)))
                cut.save(PAGES / f"{path.stem}.webp", "WEBP", quality=QUALITY, method=6)


if __name__ == "__main__":
    main()
