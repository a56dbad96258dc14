"""Coding agents and command-line clients, run as people run them: told in one conversation, asked in the next."""
