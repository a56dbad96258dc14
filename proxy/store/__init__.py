"""Persistence: LanceDB for searched rows (memories, episodes, chunks), SQL for everything else."""
