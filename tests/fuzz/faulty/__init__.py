"""Programs that access memory wrongly, run on the interpreter and on native code side by side.

`tileir/fuzz/faulty` makes them from a seed and compares; `run` is a child process that runs a range of seeds and
reports, a line each, whether both targets did the same; the parent (`campaign`) also notices a child that died.

    python -m tests.fuzz.faulty --first 0 --count 20000
"""
