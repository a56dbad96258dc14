"""Real clients through a running Throughline, each with nothing changed but its base URL."""
