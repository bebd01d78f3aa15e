"""Programs that access memory wrongly, run on the interpreter and on native code side by side.

`programs` makes them from a seed: about half are right, the others have one thing wrong (an extent, a stride, an
offset, a mask, an index, a pointer). `guarded` puts their arrays between canary bytes and pages that may not be
touched. `run` is a child process that runs a range of seeds on both targets and reports, a line each, whether both did
the same; the parent (`campaign`) also notices a child that died.

    python -m tests.fuzz.faulty --first 0 --count 20000
"""
