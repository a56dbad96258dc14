"""What can be set, section by section; ``proxy.settings.load`` reads it."""
