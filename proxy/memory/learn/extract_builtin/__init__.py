"""The extractor that needs no model: rules over sentences in five languages."""

from proxy.memory.learn.extract_builtin.extractor import BuiltinExtractor

__all__ = ["BuiltinExtractor"]
