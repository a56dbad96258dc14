"""Thousands of improbable requests: for any of them, no part of Throughline fails."""
