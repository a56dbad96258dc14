"""`throughline eval`: replay of conversations as traffic, and measurement of the injected memory."""
