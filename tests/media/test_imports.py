"""Parsers are imported where files are read, and never at the server's start."""

from __future__ import annotations

import subprocess
import sys

HEAVY = (
    "PIL", "bs4", "charset_normalizer", "cv2", "lxml", "mammoth", "markdownify", "pdfplumber", "pptx",
    "pypdfium2", "python_calamine", "rapidocr", "trafilatura",
)  # fmt: skip
CODE = """
import sys
import proxy.app, proxy.media.read, proxy.media.fetch, proxy.media.chunk, proxy.media.image
print(",".join(name for name in sys.argv[1:] if name in sys.modules))
"""


def test_server_starts_without_what_reads_files():
    done = subprocess.run([sys.executable, "-c", CODE, *HEAVY], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_process_that_reads_files_starts_light():
    code = "import sys; sys.argv = ['child', '0']; import proxy.media.child; print(','.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.strip().split(","))
    assert not loaded & {*HEAVY, "pydantic", "numpy", "aiohttp", "lancedb", "proxy.settings.load"}
