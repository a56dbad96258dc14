"""Stand-ins for what is outside: a scripted provider on a real socket."""
