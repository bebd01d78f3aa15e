"""The meaning of programs, chapter by chapter, on every target: see `tests.targets`."""
