"""Launches as commands say them: arguments from words, arrays to fill, what a kernel takes and a command for it."""
