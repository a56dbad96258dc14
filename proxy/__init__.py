"""Throughline: memory for any LLM client by changing one line, ``base_url``."""

import os
import sys

# Read when numpy is first imported. A search multiplies small matrices many times: a second thread would save nothing
# and spin (measured for 2,711 vectors: 8 CPU-ms with two threads, 0.3 with one).
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # noqa: TID251 - written for a library, not read as a setting

# structlog loads rich for tracebacks in colour, and rich the names of all languages it can highlight: 4 MB and 30 ms of
# each start, for what is not used here. Whoever imports rich later gets it.
if "structlog" not in sys.modules and "rich" not in sys.modules:
    sys.modules["rich"] = None  # type: ignore[assignment] # an import of it fails
    try:
        import structlog  # noqa: F401
    finally:
        del sys.modules["rich"]
