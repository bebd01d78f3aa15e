"""Copies of regions of memory to and from tiles, and checks of them, as native code.

Knows: where the elements of an access lie (`regions`, `guards`), how they are loaded and stored, what is asked before
(`checks`, `strict`) and what goes past the cache. Does not know: what an operation means, nor which accesses are boxes,
put off or joined (`cpu.analysis`).
"""
