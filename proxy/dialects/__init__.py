"""Wire formats, pure: read messages, insert blocks, accumulate replies, shape errors."""
