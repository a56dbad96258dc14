"""Third-party conformance suites, run directly against a provider and through the proxy: results must be equal."""
