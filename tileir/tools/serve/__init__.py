"""A page on this machine that shows every stage of a program side by side."""
