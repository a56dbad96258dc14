"""Throughline: memory for any LLM client by changing one line, ``base_url``."""
