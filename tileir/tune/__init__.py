"""Searching for the fastest of many programs that do the same: spaces, candidates, races, records."""
