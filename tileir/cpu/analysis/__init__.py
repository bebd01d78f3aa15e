"""Decisions about an entry that are made before code is emitted and that only native code needs."""
