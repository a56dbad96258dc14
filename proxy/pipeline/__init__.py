"""The request half: one step each, from the key to the last byte."""
