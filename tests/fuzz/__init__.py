"""Requests that nobody would write, by the thousand: whatever comes, nothing of ours falls over."""
