"""Launches from many threads, with interrupts, traps, timeouts, forks and spawned workers in between.

A round (`rounds`) runs right launches in helper threads, while the main thread has launches interrupted at random
times, forks, or starts a worker; after each of these the next launch must be right, and nothing may still write to the
arrays of the one that ended. `run` is a child process that runs a range of rounds; the parent (`__main__`) also notices
a child that died or hangs.

    python -m tests.fuzz.launching --rounds 1000

`changing` is millions of short launches instead, whose arguments change.
"""
