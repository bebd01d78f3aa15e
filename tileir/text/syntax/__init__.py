"""Syntax of operations: the format language, its directives, and the chapters whose operations it cannot describe."""
