"""The HTTP edge: one router per noun."""
