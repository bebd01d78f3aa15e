"""All outcomes of a small program that the memory model allows: the enumerator and what it reports."""
