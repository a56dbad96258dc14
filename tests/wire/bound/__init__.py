"""What stood before a bound thought."""
