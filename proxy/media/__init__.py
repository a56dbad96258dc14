"""Bytes to text: what a file is, what it says, within limits and away from the server's own process."""
