"""Syntax of operations: the format language and its directives, and the operations with a syntax of their own."""
