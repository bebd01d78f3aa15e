"""The two layouts of tf32 elements in memory.

A word is its pattern of 19 bits above 13 zeros. Whole columns of bytes are shifted at once, because constants can be
long.
"""

from __future__ import annotations

PACKED_BYTES = 3
_WORD_BYTES = 4
_SHIFT = 5
"""A byte of the pattern ends five bits up in one byte of the word, and goes on in the next one."""
_LOWER = bytes(byte << _SHIFT & 0xFF for byte in range(256))
_UPPER = bytes(byte >> 8 - _SHIFT for byte in range(256))
_LOWER_BACK = bytes(byte >> _SHIFT for byte in range(256))
_UPPER_BACK = bytes(byte << 8 - _SHIFT & 0xFF for byte in range(256))


def words(packed: bytes) -> bytes:
    """Return the words of packed elements, cut to the 19 bits of an element."""
    first, second, third = (packed[at::PACKED_BYTES] for at in range(PACKED_BYTES))
    out = bytearray(len(first) * _WORD_BYTES)
    out[1::_WORD_BYTES] = first.translate(_LOWER)
    out[2::_WORD_BYTES] = _joined(first.translate(_UPPER), second.translate(_LOWER))
    out[3::_WORD_BYTES] = _joined(second.translate(_UPPER), third.translate(_LOWER))
    return bytes(out)


def packed(words: bytes) -> bytes:
    """Return the packed elements of words."""
    first, second, third = (words[at::_WORD_BYTES] for at in range(1, _WORD_BYTES))
    out = bytearray(len(first) * PACKED_BYTES)
    out[0::PACKED_BYTES] = _joined(first.translate(_LOWER_BACK), second.translate(_UPPER_BACK))
    out[1::PACKED_BYTES] = _joined(second.translate(_LOWER_BACK), third.translate(_UPPER_BACK))
    out[2::PACKED_BYTES] = third.translate(_LOWER_BACK)
    return bytes(out)


def _joined(one: bytes, other: bytes) -> bytes:
    """Return the bits of either, byte by byte."""
    return (int.from_bytes(one, "little") | int.from_bytes(other, "little")).to_bytes(len(one), "little")
