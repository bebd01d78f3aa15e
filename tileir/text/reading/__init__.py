"""From text to a module."""
