"""Bytecode in and out, versions 13.1 to 13.5 (spec: bytecode#top).

Everything about operations is derived from their declarations. The layers, lowest first: `wire` (numbers), `sections`
(the file), `tables` and `types` (what is referred to by index), `attributes`, `debug`, `layout` (the shape of an
instruction), `head_reader`, `instruction_reader` and `instruction_writer`, `decode` and `encode`; `dump` annotates a
file.
"""

from tileir.bytecode.decode import decode
from tileir.bytecode.dump import dump
from tileir.bytecode.encode import encode
from tileir.bytecode.sections import is_bytecode

__all__ = ["decode", "dump", "encode", "is_bytecode"]
