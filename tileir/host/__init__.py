"""Services of the process that every target needs: printing, memory, host functions, limits, children, changes of
other libraries, words for faults.

Knows: the pieces of memory of a launch by address, what a kernel prints, how an interrupt or the end of a parent ends
it, and the words of undefined behaviour and of faulty accesses.
Does not know: how a target runs a kernel, nor what arguments a user may give (`runtime`).
"""
