"""Sections of the settings; ``proxy.settings.load`` reads them."""
