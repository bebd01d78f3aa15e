"""The dynamic sanitizer: one launch on the interpreter with every access to memory judged by the memory model.

Knows: what a run does wrong (`findings`), found while it goes on.
Does not know: what arguments a user may give (`runtime`), nor what holds for every run.
"""
