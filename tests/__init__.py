"""The test suite; mirrors ``proxy/``."""
