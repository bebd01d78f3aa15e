"""Rows of single operations, one file per chapter, all of them applied by the pass ``canonicalise``."""
