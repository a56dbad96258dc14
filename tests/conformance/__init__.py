"""Other people's conformance suites, run directly against a provider and through us: nothing may differ."""
