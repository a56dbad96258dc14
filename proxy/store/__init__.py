"""Persistence: LanceDB for what is searched, SQL for what must be exact."""
