"""The background half: indexing, learning and upkeep behind the journal."""
