"""Rewrites of programs: every one is a row that says what it does, when, and why it is right.

    rewritten, log = run(module, passes, context)

Knows: the rows, the walk that applies them (`rebuilding`), passes (`running`) and the order of a level (`pipeline`).
Does not know: arithmetic, which it is given, nor any target.
"""
