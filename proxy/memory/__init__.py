"""What to remember and how to find it."""
