"""Tile IR as text (spec: grammar#top, spec: printing#top), in both directions.

`reading` turns characters into an `ir` module and reports every fault with its place; `printer` writes one.
`attributes`, `elements` and `locations` have both directions of one thing each, and `syntax` derives both for each
operation from its declared format. Knows spellings, canonical and accepted. Does not know what a program means or
whether it is valid: a text that parses may still break every rule of `verify`.
"""
