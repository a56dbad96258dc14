"""Real clients through a running Throughline, with only their base URL changed."""
