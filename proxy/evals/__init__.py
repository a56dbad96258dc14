"""`throughline eval`: replay conversations as traffic and measure what is injected."""
