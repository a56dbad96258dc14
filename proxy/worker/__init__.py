"""Background work: indexing, learning and upkeep of journalled turns."""
