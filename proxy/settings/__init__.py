"""What can be set, section by section; ``proxy.config`` reads it."""
