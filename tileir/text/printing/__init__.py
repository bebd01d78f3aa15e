"""Printing: the text under way, and the canonical spelling of attributes, locations and names."""
