"""Coding agents and command-line clients, run like a user does: told in one conversation, asked in the next."""
