"""The state of an entry while it becomes an LLVM function, and what the rules of several chapters share."""
