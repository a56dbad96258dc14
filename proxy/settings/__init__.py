"""Settings, section by section; ``proxy.settings.load`` reads them."""
