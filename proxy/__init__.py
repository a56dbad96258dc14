"""Throughline: memory for any LLM client by changing one line, ``base_url``."""

import os

# Read when numpy is first imported. A search multiplies small matrices many times: a second thread would save nothing
# and spin (measured for 2,711 vectors: 8 CPU-ms with two threads, 0.3 with one).
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # noqa: TID251 - written for a library, not read as a setting
