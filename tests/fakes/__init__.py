"""Fakes of external services: a scripted provider on a real socket."""
