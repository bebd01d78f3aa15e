"""Tile IR as text: lexer, parser and printer, derived from the declared formats."""
