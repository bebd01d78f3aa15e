"""From a module to canonical text."""
