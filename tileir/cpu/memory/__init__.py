"""Accesses to memory from native code: elements, boxes of tensors, tiles of pointers, and their checks."""
