"""Proofs: what holds of a kernel for every run, found without running it.

Knows: whether tile blocks race and whether accesses stay inside their arrays, for how many launches that is certain,
and what it takes for granted. Does not know: accesses that are proved nothing of; a run tells (`sanitize.run`).
"""
