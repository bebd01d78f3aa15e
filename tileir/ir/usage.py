"""What a user asked for and cannot have.

Knows: the error. Does not know: who reports it.
"""


class UsageError(Exception):
    """Something the user asked for that cannot be done: shown in one line, exit status 2."""
