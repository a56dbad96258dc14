"""Pipeline of a request: one module per step, from admission to the last byte of the reply."""
