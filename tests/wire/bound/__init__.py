"""Tests of the text before a bound thought."""
