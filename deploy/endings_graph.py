"""The network that weighs endings as an int8 ONNX graph: three layers of BERT over the embedder's first three."""

from __future__ import annotations

from embedder_float import LAYERS, WIDTH, Weights
from embedder_graph import MIDDLE, Bert, Graph, model_of
from onnx import ModelProto, TensorProto, helper

_NO_MASK = ""  # one pair at a time, nothing is padded


class Network(Bert):
    """The tokens of a message and of what was told before, to a number for each value: above 0 it likely ends."""

    def __init__(self, weights: Weights, peaks: Weights) -> None:
        self.weights, self.peaks, self.graph = weights, peaks, Graph()
        self.shape = self.graph.ints(1, -1)

    def build(self) -> None:
        """Add everything; "totals" has a number a value."""
        graph = self.graph
        side = graph.step("Gather", graph.constant("sides", self.weights["sides"]), "side")
        tongue = graph.step("Gather", graph.constant("tongues", self.weights["tongues"]), "language")
        x = graph.step("Add", graph.step("Add", "middle", side), tongue)
        for index in range(MIDDLE, LAYERS):
            x = self.layer(f"encoder.layer.{index}.", x, _NO_MASK)
        told, named, whole = (self.weights[f"wide.{part}"] for part in ("told", "named", "whole"))
        first = graph.step("Gather", x, graph.ints(0))
        summed = [self.pooled("told", graph.step("MatMul", "told", x), told)]
        summed.append(self.pooled("named", graph.step("MatMul", "named", x), named))
        summed.append(self.pooled("whole", first, whole))
        is_named = graph.step("ReduceSum", "named", graph.ints(1), keepdims=1)
        summed.append(graph.step("Mul", is_named, graph.constant("wide.is_named", self.weights["wide.is_named"])))
        wide = graph.constant("wide.bias", self.weights["wide.bias"])
        for one in summed:
            wide = graph.step("Add", wide, one)
        total = graph.step("MatMul", graph.step("Gelu", wide), graph.constant("narrow", self.weights["narrow"]))
        total = graph.step("Add", total, graph.constant("narrow.bias", self.weights["narrow.bias"]))
        graph.name("totals", graph.step("Squeeze", total, graph.ints(1)))

    def pooled(self, name: str, x: str, matrix: object) -> str:
        """Multiply one row a value in int8."""
        return self.graph.matmul(f"wide.{name}", self.graph.quantise(x), matrix)[0]


def build(weights: Weights, peaks: Weights) -> ModelProto:
    """Return the model: tokens (length, 384), their sides, a language, and where each value stands, to (values)."""
    network = Network(weights, peaks)
    network.build()
    inputs = [
        helper.make_tensor_value_info("middle", TensorProto.FLOAT, ["length", WIDTH]),
        helper.make_tensor_value_info("side", TensorProto.INT64, ["length"]),
        helper.make_tensor_value_info("language", TensorProto.INT64, [1]),
        helper.make_tensor_value_info("told", TensorProto.FLOAT, ["values", "length"]),
        helper.make_tensor_value_info("named", TensorProto.FLOAT, ["values", "length"]),
    ]
    outputs = [helper.make_tensor_value_info("totals", TensorProto.FLOAT, ["values"])]
    return model_of(network.graph, "endings", inputs, outputs)
