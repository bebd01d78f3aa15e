"""Emitting LLVM code: values in registers, tiles, loops, storage, and the frame of an entry."""
