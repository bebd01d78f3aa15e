"""The elements of a constant on the wire (spec: bytecode#raw-data).

They differ from those of `ir.attributes.DenseElements`: i1 is packed into bits, tf32 takes three bytes, and the upper
half of a four-bit element is noise. All other elements are laid out alike.
"""

from __future__ import annotations

from tileir.bytecode.faults import CONST_SIZE, KIND, MALFORMED, BytecodeFault, shown_type
from tileir.ir import tf32
from tileir.ir import types as t
from tileir.ir.attributes import DenseElements

_LOW_NIBBLE = bytes(byte & 0xF for byte in range(256))
_BITS = [bytes(byte >> bit & 1 for bit in range(8)) for byte in range(256)]
_DIGITS = bytes(ord("1") if byte else ord("0") for byte in range(256))


def unpack(raw: bytes, count: int, element: t.ElementType, offset: int) -> bytes:
    """Return the wire bytes of a splat or of `count` elements as `DenseElements.data`; `offset` is where `raw`
    stands."""
    if element is t.I1:
        return _unpack_bits(raw, count, offset)
    size = tf32.PACKED_BYTES if element is t.TF32 else element.byte_size
    if len(raw) not in (size, size * count):
        message = f"expected {size} bytes (all elements equal) or {size * count} bytes, got {len(raw)}"
        raise BytecodeFault(CONST_SIZE, message, offset)
    if element is t.TF32:
        return tf32.words(raw)
    return raw.translate(_LOW_NIBBLE) if element.bits == 4 else raw


def _unpack_bits(raw: bytes, count: int, offset: int) -> bytes:
    packed = (count + 7) // 8
    if len(raw) == packed:
        return b"".join(_BITS[byte] for byte in raw)[:count]
    if len(raw) == 1:
        return _BITS[raw[0]][:1]
    message = f"expected {packed} bytes of packed bits or 1 byte (all elements equal), got {len(raw)}"
    raise BytecodeFault(CONST_SIZE, message, offset)


def pack(value: DenseElements) -> bytes:
    """Return the wire bytes of a constant: one element if all are equal, else all of them."""
    element = value.type.element
    if not isinstance(element, t.ElementType):
        raise BytecodeFault(KIND, f"expected a constant of numbers, got {shown_type(value.type)}")
    size = element.byte_size
    full = size * value.type.count
    if len(value.data) not in (size, full):
        message = f"expected {size} or {full} bytes of data for {shown_type(value.type)}, got {len(value.data)}"
        raise BytecodeFault(MALFORMED, message)
    data = DenseElements.of(value.type, value.data).data
    if element is t.I1:
        return _pack_bits(data)
    return tf32.packed(data) if element is t.TF32 else data


def _pack_bits(data: bytes) -> bytes:
    if len(data) == 1:
        return b"\xff" if data[0] else b"\x00"
    return int(data[::-1].translate(_DIGITS), 2).to_bytes((len(data) + 7) // 8, "little")
