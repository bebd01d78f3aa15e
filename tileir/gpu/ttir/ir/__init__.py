"""TTIR in memory, and as text."""
