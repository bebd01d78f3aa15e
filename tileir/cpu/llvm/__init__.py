"""LLVM as a library: target machines, passes, machine code in memory, metadata."""
