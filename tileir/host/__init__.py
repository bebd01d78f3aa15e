"""Services of the host for kernels on any target: output, memory, functions outside the program, words for faults."""
