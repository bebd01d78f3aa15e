"""Rewrites of programs: every one is a row of a table that says what it does, when, and why it is right.

    rewritten, log = run(module, pipeline(level=2), evaluate)

Knows: the rows (`table`), the walk that applies them (`rebuilding`), passes and their order (`pipeline`).
Does not know: arithmetic, which it is handed (`Evaluate`), nor any target.
"""
