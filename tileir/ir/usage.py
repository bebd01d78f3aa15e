"""Errors for requests that a user cannot have."""


class UsageError(Exception):
    """Something the user asked for that cannot be done: shown in one line, exit status 2."""
