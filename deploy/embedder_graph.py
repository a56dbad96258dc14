"""The int8 BERT as an ONNX graph, built from the float weights; ``build_embedder`` says why it looks like this."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from embedder_float import EPSILON, HEADS, LAYERS, WIDTH, Array, Weights
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, helper, numpy_helper

MAX_TOKENS = 240
SMOOTHING = 0.6  # SmoothQuant's alpha: how much of the outliers moves into the weights
GELU_FLOOR = 0.17  # just below its minimum of -0.16997
CONTRIB = "com.microsoft"


class Rows(NamedTuple):
    """Activations of shape (tokens, channels), quantised with one scale a token."""

    values: str
    scales: str
    zero: int


class Graph:
    """Collects nodes and constants; each method adds a step and returns the name of its output."""

    def __init__(self) -> None:
        self.nodes: list[object] = []
        self.constants: dict[str, TensorProto] = {}

    def constant(self, name: str, value: object) -> str:
        """Add a constant, once per name."""
        if name not in self.constants:
            self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(value), name)
        return name

    def ints(self, *values: int) -> str:
        """Add a one-dimensional integer constant, for axes and shapes."""
        return self.constant("ints" + "".join(f"_{value}" for value in values), np.array(values, np.int64))

    def number(self, value: float) -> str:
        """Add a float constant without a dimension."""
        return self.constant(f"number_{value}", np.array(value, np.float32))

    def step(self, kind: str, *inputs: str, domain: str = "", **attributes: object) -> str:
        """Add a node with one output."""
        return self.steps(kind, 1, *inputs, domain=domain, **attributes)[0]

    def steps(self, kind: str, outputs: int, *inputs: str, domain: str = "", **attributes: object) -> list[str]:
        """Add a node with several outputs."""
        name = f"{kind}_{len(self.nodes)}"
        names = [f"{name}:{index}" for index in range(outputs)]
        self.nodes.append(helper.make_node(kind, inputs, names, name=name, domain=domain, **attributes))
        return names

    def quantise(self, x: str) -> Rows:
        """Quantise each row symmetrically about 128."""
        peaks = self.step("ReduceMax", self.step("Abs", x), self.ints(1), keepdims=0)
        scales = self.step("Add", self.step("Mul", peaks, self.number(1 / 127)), self.number(1e-9))
        return self._rows(x, scales, 128)

    def quantise_above(self, x: str, floor: float) -> Rows:
        """Quantise rows whose values are all above ``-floor``; the result stands for ``x + floor``."""
        lifted = self.step("Add", x, self.number(floor))
        peaks = self.step("ReduceMax", lifted, self.ints(1), keepdims=0)
        return self._rows(lifted, self.step("Mul", peaks, self.number(1 / 255)), 0)

    def _rows(self, x: str, scales: str, zero: int) -> Rows:
        value = helper.make_tensor("value", TensorProto.UINT8, [1], [zero])
        zeros = self.step("ConstantOfShape", self.step("Shape", scales), value=value)
        return Rows(
            self.step("QuantizeLinear", x, scales, zeros, axis=0), self.step("Unsqueeze", scales, self.ints(1)), zero
        )

    def matmul(self, name: str, rows: Rows, matrix: Array) -> tuple[str, Array]:
        """Multiply by the transpose of ``matrix`` in int8.

        Returns:
            The product without a bias, and the sum of each row of the quantised matrix (for a lifted input).
        """
        values, scales = quantise_rows(matrix)
        zero = self.constant(f"zero_{rows.zero}", np.array(rows.zero, np.uint8))
        weight, scale = self.constant(name + ".values", values.T), self.constant(name + ".scales", scales)
        product = self.step("MatMulIntegerToFloat", rows.values, weight, self.number(1.0), scale, zero, domain=CONTRIB)
        # Summed as integers, so that the order of the sum cannot change the file.
        sums = np.asarray(values.sum(1, dtype=np.int64) * scales, np.float32)
        return self.step("Mul", product, rows.scales), sums


def quantise_rows(matrix: Array) -> tuple[NDArray[np.int8], Array]:
    """Return int8 values and one scale a row."""
    scales = np.maximum(np.abs(matrix).max(1), np.float32(1e-12)) / np.float32(127)
    values = np.clip(np.rint(matrix / scales[:, None]), -127, 127).astype(np.int8)
    return values, scales


def smoothing(peaks: Array, matrix: Array) -> Array:
    """Return the factor by which each input channel is divided and its weights multiplied.

    Powers of two, so that scaling is exact and the last bits of the calibration cannot change the file.
    """
    ideal = SMOOTHING * np.log2(peaks) - (1 - SMOOTHING) * np.log2(np.abs(matrix).max(0))
    return np.ldexp(np.float32(1), np.rint(ideal - ideal.mean()).astype(np.int32))


class Bert:
    """The model as a graph over tokens laid end to end: (texts * length, width)."""

    def __init__(self, weights: Weights, peaks: Weights) -> None:
        self.weights, self.peaks, self.graph = weights, peaks, Graph()
        self.shape = self.graph.step("Shape", "input_ids")

    def build(self) -> str:
        """Add everything; return the name of the pooled, normalised output."""
        graph = self.graph
        mask = graph.step("Cast", "attention_mask", to=TensorProto.INT32)
        x = self.embeddings()
        for index in range(LAYERS):
            x = self.layer(f"encoder.layer.{index}.", x, mask)
        weight = graph.step("Unsqueeze", graph.step("Cast", "attention_mask", to=TensorProto.FLOAT), graph.ints(1))
        # The sum over real tokens points where their mean does, and its length goes with the norm.
        total = graph.step("Squeeze", graph.step("MatMul", weight, self.texts(x, WIDTH)), graph.ints(1))
        return graph.step("LpNormalization", total, axis=-1, p=2)

    def embeddings(self) -> str:
        """Look up words (int8, one scale a word) and places."""
        graph, words = self.graph, "embeddings.word_embeddings.weight"
        values, scales = quantise_rows(self.weights[words])
        ids = graph.step("Reshape", "input_ids", graph.ints(-1))
        word = graph.step("Cast", graph.step("Gather", graph.constant("words", values), ids), to=TensorProto.FLOAT)
        scale = graph.step("Gather", graph.constant("words.scales", scales[:, None]), ids)
        table = self.weights["embeddings.position_embeddings.weight"][:MAX_TOKENS]
        places = graph.constant("places", table + self.weights["embeddings.token_type_embeddings.weight"][0])
        length = graph.step("Slice", self.shape, graph.ints(1), graph.ints(2))
        place = graph.step("Slice", places, graph.ints(0), length)
        summed = graph.step("Add", self.texts(graph.step("Mul", word, scale), WIDTH), place)
        return self.norm("embeddings.LayerNorm", self.tokens(summed))

    def layer(self, name: str, x: str, mask: str) -> str:
        """Add attention and the two wide layers, each with its residual and norm."""
        graph, weights = self.graph, self.weights
        parts = [f"{name}attention.self.{part}" for part in ("query", "key", "value")]
        matrix = np.concatenate([weights[part + ".weight"] for part in parts])
        bias = np.concatenate([weights[part + ".bias"] for part in parts])
        joined = self.texts(self.smooth_matmul(name + "qkv", x, matrix), 3 * WIDTH)
        attended = graph.step(
            "MultiHeadAttention",
            *graph.steps("Split", 3, joined, axis=-1, num_outputs=3),
            graph.constant(name + "qkv.bias", bias),
            mask,
            domain=CONTRIB,
            num_heads=HEADS,
        )
        rows = graph.quantise(self.tokens(attended))
        out, _ = graph.matmul(name + "attention", rows, weights[name + "attention.output.dense.weight"])
        x = self.norm(name + "attention.output.LayerNorm", out, x, weights[name + "attention.output.dense.bias"])
        wide = self.smooth_matmul(name + "up", x, weights[name + "intermediate.dense.weight"])
        bias = graph.constant(name + "up.bias", weights[name + "intermediate.dense.bias"])
        rows = graph.quantise_above(graph.step("BiasGelu", wide, bias, domain=CONTRIB), GELU_FLOOR)
        out, sums = graph.matmul(name + "down", rows, weights[name + "output.dense.weight"])
        lifted = weights[name + "output.dense.bias"] - np.float32(GELU_FLOOR) * sums
        return self.norm(name + "output.LayerNorm", out, x, lifted)

    def smooth_matmul(self, name: str, x: str, matrix: Array) -> str:
        """Multiply what comes out of a layer norm, its outlier channels scaled into the weights."""
        factors = smoothing(self.peaks[name], matrix)
        scaled = self.graph.step("Mul", x, self.graph.constant(name + ".smoothing", 1 / factors))
        return self.graph.matmul(name, self.graph.quantise(scaled), matrix * factors)[0]

    def norm(self, name: str, x: str, residual: str | None = None, bias: Array | None = None) -> str:
        """Add a layer norm, of ``x + bias + residual`` where given."""
        gain = self.graph.constant(name + ".gain", self.weights[name + ".weight"])
        shift = self.graph.constant(name + ".shift", self.weights[name + ".bias"])
        if residual is None:
            return self.graph.step("LayerNormalization", x, gain, shift, axis=-1, epsilon=EPSILON)
        added = self.graph.constant(name + ".bias", bias)
        return self.graph.step(
            "SkipLayerNormalization", x, residual, gain, shift, added, domain=CONTRIB, epsilon=EPSILON
        )

    def texts(self, x: str, width: int) -> str:
        """Reshape tokens to (texts, length, width)."""
        return self.graph.step("Reshape", x, self.graph.step("Concat", self.shape, self.graph.ints(width), axis=0))

    def tokens(self, x: str) -> str:
        """Reshape (texts, length, width) to tokens."""
        return self.graph.step("Reshape", x, self.graph.ints(-1, WIDTH))


def build(weights: Weights, peaks: Weights) -> ModelProto:
    """Return the model: token ids and mask of shape (texts, length) to (texts, 384)."""
    bert = Bert(weights, peaks)
    embedding = bert.build()
    bert.graph.nodes.append(helper.make_node("Identity", [embedding], ["embedding"], name="embedding"))
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "length"])
        for name in ("input_ids", "attention_mask")
    ]
    outputs = [helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["texts", WIDTH])]
    graph = helper.make_graph(
        bert.graph.nodes, "all-MiniLM-L6-v2", inputs, outputs, list(bert.graph.constants.values())
    )
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid(CONTRIB, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10, producer_name="throughline")
