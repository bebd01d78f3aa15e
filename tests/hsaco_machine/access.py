"""Loads, stores and atomic operations of vectors: global memory, buffers, scratch, and memory that a block shares."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.hsaco_machine import decode
from tests.hsaco_machine.scalar import COUNTERS, LOADS, SHARED, STORES
from tests.hsaco_machine.typed import Array
from tests.hsaco_machine.wave import VECTOR, Wave, field_of
from tests.ttir_machine import MachineFault
from tests.ttir_machine.memory import Memory

_BYTES = {
    "U8": 1, "I8": 1, "B8": 1, "UBYTE": 1, "SBYTE": 1, "BYTE": 1,
    "U16": 2, "I16": 2, "B16": 2, "USHORT": 2, "SSHORT": 2, "SHORT": 2,
    "B32": 4, "DWORD": 4, "B64": 8, "DWORDX2": 8, "B96": 12, "DWORDX3": 12, "B128": 16, "DWORDX4": 16,
}  # fmt: skip
_SIGNED = ("I8", "SBYTE", "I16", "SSHORT")


@dataclass(frozen=True)
class Piece:
    """The data that one lane loads or stores: bytes, whether they are signed, and their half of a register."""

    size: int
    signed: bool
    half: int | None


def piece_of(name: str) -> Piece:
    """From the end of the name of an operation, such as ``LOAD_D16_HI_B16`` or ``READ_U16_D16``."""
    words = name.split("_")
    kind = next((word for word in reversed(words) if word in _BYTES), None)
    if kind is None:
        raise MachineFault(f"the machine does not know {name}")
    half = None if "D16" not in words else 1 if "HI" in words else 0
    return Piece(_BYTES[kind], kind in _SIGNED, half)


class SharedMemory:
    """The memory that a block shares; every access outside is a fault."""

    def __init__(self, size: int) -> None:
        self.content = np.full(size, 0xA5, np.uint8)

    def load(self, addresses: Array, size: int) -> Array:
        """The bytes as numbers of up to 4 bytes."""
        self._require(addresses, size)
        found = np.zeros(addresses.shape, np.uint64)
        for place in range(size):
            byte = self.content[(addresses + np.uint64(place)).astype(np.int64)]
            found |= byte.astype(np.uint64) << np.uint64(8 * place)
        return found

    def store(self, addresses: Array, values: Array, size: int) -> None:
        self._require(addresses, size)
        for place in range(size):
            self.content[(addresses + np.uint64(place)).astype(np.int64)] = (
                values >> np.uint64(8 * place)
            ) & np.uint64(255)

    def _require(self, addresses: Array, size: int) -> None:
        wrong = addresses + np.uint64(size) > self.content.size
        if wrong.any():
            address = int(addresses[wrong][0])
            raise MachineFault(f"access to byte {address} of {self.content.size} that the block shares")


class GlobalMemory:
    """The memory of the launch, in pieces of up to 4 bytes."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    def load(self, addresses: Array, size: int) -> Array:
        return self.memory.load(addresses, f"i{8 * size}").astype(f"u{size}").astype(np.uint64)

    def store(self, addresses: Array, values: Array, size: int) -> None:
        self.memory.store(addresses, values.astype(f"u{size}"), f"i{8 * size}")


Space = SharedMemory | GlobalMemory


# ---------------------------------------------------------------- loads and stores


def load(wave: Wave, space: Space, addresses: Array, mask: Array, target: int, piece: Piece, counter: str) -> None:
    """Fill registers from `target` on in the lanes of `mask`; others of `wave.active` get zeros."""
    count = max(1, piece.size // 4)
    registers = range(target, target + count)
    for place in range(count):
        step = min(piece.size, 4)
        found = np.zeros(wave.lanes, np.uint64)
        found[mask] = space.load(addresses[mask] + np.uint64(4 * place), step)
        if piece.signed:
            shift = np.uint64(64 - 8 * step)
            found = ((found << shift).astype(np.int64) >> shift.astype(np.int64)).view(np.uint64)
        wave.fill_word(target + place, _placed(wave, target + place, found, piece))
    wave.start(counter, registers)


def _placed(wave: Wave, register: int, found: Array, piece: Piece) -> Array:
    """The word of a register into which a loaded half goes."""
    word = found.astype(np.uint32)
    if piece.half is None:
        return word
    old = wave.vectors[register - VECTOR]
    part = word & np.uint32(0xFFFF)
    if piece.half:
        return (old & np.uint32(0xFFFF)) | part << np.uint32(16)
    return (old & np.uint32(0xFFFF0000)) | part


def store(wave: Wave, space: Space, addresses: Array, mask: Array, source: int, piece: Piece) -> None:
    for place in range(max(1, piece.size // 4)):
        word = wave.word(source + place).astype(np.uint64)
        if piece.half:
            word = word >> np.uint64(16)
        step = min(piece.size, 4)
        space.store(addresses[mask] + np.uint64(4 * place), word[mask] & np.uint64((1 << 8 * step) - 1), step)


# ---------------------------------------------------------------- global memory and buffers


def _signed_offset(instruction: Any) -> int:
    field = next(getattr(type(instruction), name) for name in ("offset", "ioffset") if hasattr(type(instruction), name))
    value = int(field_of(instruction, "offset", field_of(instruction, "ioffset")))
    return value - (1 << field.hi - field.lo + 1) if value >> (field.hi - field.lo) else value


def _global_addresses(wave: Wave, instruction: Any) -> Array:
    name = "addr" if hasattr(type(instruction), "addr") else "vaddr"
    register = int(getattr(instruction, name).offset)
    scalar = int(instruction.saddr.offset)
    offset = np.uint64(_signed_offset(instruction) & 0xFFFFFFFFFFFFFFFF)
    if scalar == 127 or wave.is_null(scalar):
        return wave.read(register, 64) + offset
    return wave.read(register, 32) + np.uint64(wave.read_scalar(scalar, 64)) + offset


def run_global(wave: Wave, instruction: Any, memory: GlobalMemory) -> None:
    name = decode.name_of(instruction.op)
    if any(word in name for word in ("INV", "WB", "PREFETCH")):
        return
    addresses = _global_addresses(wave, instruction)
    if "ATOMIC" in name:
        data = int(instruction.data.offset if hasattr(type(instruction), "data") else instruction.vsrc.offset)
        atomic(wave, instruction, memory, addresses, wave.active, data, int(instruction.vdst.offset), LOADS)
    elif "LOAD" in name:
        counter = COUNTERS[wave.family][LOADS]
        load(wave, memory, addresses, wave.active, int(instruction.vdst.offset), piece_of(name), counter)
    else:
        data = int(instruction.data.offset if hasattr(type(instruction), "data") else instruction.vsrc.offset)
        store(wave, memory, addresses, wave.active, data, piece_of(name))
        wave.start(COUNTERS[wave.family][STORES], ())


def run_buffer(wave: Wave, instruction: Any, memory: GlobalMemory) -> None:
    """Access a buffer whose records are bytes; outside it reads give 0 and writes are dropped."""
    name = decode.name_of(instruction.op)
    if "INV" in name or "WB" in name:
        return
    resource = int(instruction.srsrc.offset if hasattr(type(instruction), "srsrc") else instruction.rsrc)
    base = wave.read_scalar(resource, 64) & ((1 << 48) - 1)
    records = wave.read_scalar(resource + 2, 32)
    if field_of(instruction, "idxen", 0) or (wave.read_scalar(resource + 1, 32) >> 16) & 0x3FFF:
        raise MachineFault("the machine does not know buffers with strides")
    offsets = np.full(wave.lanes, int(field_of(instruction, "offset", field_of(instruction, "ioffset", 0))), np.uint64)
    if instruction.offen:
        offsets = offsets + wave.read(int(instruction.vaddr.offset), 32)
    scalar = np.uint64(wave.read_scalar(int(instruction.soffset.offset), 32))
    data = int(instruction.vdata.offset)
    size = np.uint64(_size(name))
    mask = wave.active & (offsets + size <= np.uint64(records))
    addresses = np.uint64(base) + offsets + scalar
    if "ATOMIC" in name:
        atomic(wave, instruction, memory, addresses, mask, data, data, LOADS)
    elif "LOAD" in name:
        load(wave, memory, addresses, mask, data, piece_of(name), COUNTERS[wave.family][LOADS])
    else:
        store(wave, memory, addresses, mask, data, piece_of(name))
        wave.start(COUNTERS[wave.family][STORES], ())


def _size(name: str) -> int:
    return _atomic_bits(name) // 8 if "ATOMIC" in name else piece_of(name).size


def run_scratch(wave: Wave, instruction: Any) -> None:
    """Memory of each lane for itself."""
    name = decode.name_of(instruction.op)
    piece = piece_of(name)
    offset = np.full(wave.lanes, _signed_offset(instruction), np.int64)
    scalar = int(instruction.saddr.offset)
    if scalar != 127 and not wave.is_null(scalar):
        offset = offset + wave.read_scalar(scalar, 32)
    if field_of(instruction, "sve", 0):
        offset = offset + wave.read(int((field_of(instruction, "addr") or instruction.vaddr).offset), 32).astype(
            np.int64
        )
    lanes = np.arange(wave.lanes)
    size = wave.scratch.shape[1]
    if ((offset < 0) | (offset + piece.size > size))[wave.active].any():
        raise MachineFault(f"access outside the {size} bytes of scratch memory of a lane")
    space = SharedMemory(0)
    space.content = wave.scratch.reshape(-1)
    addresses = (lanes * size + offset).astype(np.uint64)
    if "LOAD" in name:
        load(wave, space, addresses, wave.active, int(instruction.vdst.offset), piece, COUNTERS[wave.family][LOADS])
    else:
        data = field_of(instruction, "data") or instruction.vsrc
        store(wave, space, addresses, wave.active, int(data.offset), piece)
        wave.start(COUNTERS[wave.family][STORES], ())


# ---------------------------------------------------------------- shared memory

_OLD_NAMES = (
    (r"READ2ST64_", "LOAD_2ADDR_STRIDE64_"), (r"WRITE2ST64_", "STORE_2ADDR_STRIDE64_"), (r"READ2_", "LOAD_2ADDR_"),
    (r"WRITE2_", "STORE_2ADDR_"), (r"READ_", "LOAD_"), (r"WRITE_", "STORE_"),
)  # fmt: skip


def run_shared(wave: Wave, instruction: Any, shared: SharedMemory) -> None:
    name = decode.name_of(instruction.op)
    for old, new in _OLD_NAMES:
        name = re.sub(old, new, name, count=1) if "LOAD" not in name and "STORE" not in name else name
    counter = COUNTERS[wave.family][SHARED]
    if "PERMUTE" in name or "SWIZZLE" in name:
        _between_lanes(wave, instruction, name, counter)
        return
    addresses = wave.read(int(instruction.addr.offset), 32)
    if "2ADDR" in name:
        _two(wave, instruction, shared, name, addresses, counter)
        return
    addresses = addresses + np.uint64(instruction.offset0 | instruction.offset1 << 8)
    if "LOAD" in name:
        load(wave, shared, addresses, wave.active, int(instruction.vdst.offset), piece_of(name), counter)
    elif "STORE" in name:
        store(wave, shared, addresses, wave.active, int(instruction.data0.offset), piece_of(name))
        wave.start(counter, ())
    else:
        target = int(instruction.vdst.offset) if "RTN" in name else -1
        atomic(wave, instruction, shared, addresses, wave.active, int(instruction.data0.offset), target, SHARED)


def _two(wave: Wave, instruction: Any, shared: SharedMemory, name: str, addresses: Array, counter: str) -> None:
    """Two places that lie some elements, or 64 times as many, behind the address."""
    piece = piece_of(name)
    step = piece.size * (64 if "STRIDE64" in name else 1)
    places = [addresses + np.uint64(offset * step) for offset in (instruction.offset0, instruction.offset1)]
    if "LOAD" in name:
        target, count = int(instruction.vdst.offset), piece.size // 4
        loaded = [(place, target + number * count) for number, place in enumerate(places)]
        for place, register in loaded:
            load(wave, shared, place, wave.active, register, piece, counter)
            wave.counters[counter].pop()
        wave.start(counter, range(target, target + 2 * count))
        return
    for place, data in zip(places, (instruction.data0, instruction.data1)):
        store(wave, shared, place, wave.active, int(data.offset), piece)
    wave.start(counter, ())


def _between_lanes(wave: Wave, instruction: Any, name: str, counter: str) -> None:
    """Lanes give each other words, without memory."""
    lanes, active = np.arange(wave.lanes), wave.active
    target = int(instruction.vdst.offset)
    if name == "DS_SWIZZLE_B32":
        source = _swizzled(instruction.offset0 | instruction.offset1 << 8, lanes)
        data = wave.word(int(instruction.addr.offset))
    elif name == "DS_BPERMUTE_B32":
        source = _named_lanes(wave, instruction)
        data = wave.word(int(instruction.data0.offset))
    elif name == "DS_PERMUTE_B32":
        source, data = lanes, _sent(wave, instruction)
    else:
        raise MachineFault(f"the machine does not know {name}")
    found = np.where(active[source], data[source], 0).astype(np.uint32)
    wave.write_word(target, found, active)
    wave.start(counter, (target,))


def _named_lanes(wave: Wave, instruction: Any) -> Array:
    """The lane that each names by the address of its word."""
    offset = instruction.offset0 | instruction.offset1 << 8
    places = wave.read(int(instruction.addr.offset), 32) + np.uint64(offset)
    return (places // np.uint64(4)).astype(np.int64) % wave.lanes


def _sent(wave: Wave, instruction: Any) -> Array:
    """Return the words that active lanes sent to each lane; 0 where none did. Of several the highest lane counts."""
    given = np.zeros(wave.lanes, np.uint32)
    targets, data = _named_lanes(wave, instruction), wave.word(int(instruction.data0.offset))
    for lane in np.flatnonzero(wave.active):
        given[targets[lane]] = data[lane]
    return given


def _swizzled(offset: int, lanes: Array) -> Array:
    if offset & 0x8000:
        if offset >= 0xC000:
            raise MachineFault(f"the machine does not know the swizzle {offset:#x}")
        return lanes // 4 * 4 + ((offset >> 2 * (lanes % 4)) & 3)
    kept, set_bits, flipped = offset & 31, (offset >> 5) & 31, (offset >> 10) & 31
    return lanes // 32 * 32 + (((lanes % 32) & kept | set_bits) ^ flipped)


# ---------------------------------------------------------------- atomic operations

_OPERATION = re.compile(r"(?:GLOBAL|FLAT|BUFFER)_ATOMIC_|DS_")


def _atomic_bits(name: str) -> int:
    return 64 if name.endswith(("64", "X2")) else 32


def atomic(
    wave: Wave, instruction: Any, space: Space, addresses: Array, mask: Array, data: int, target: int, kind: str
) -> None:
    """Lane by lane, each on what the one before has left."""
    name = decode.name_of(instruction.op)
    bits = _atomic_bits(name)
    operation = _OPERATION.sub("", name).replace("_RTN", "")
    values = wave.read(data, bits)
    compared = wave.read(data + bits // 32, bits) if "CMP" in operation else values
    old = np.zeros(wave.lanes, np.uint64)
    for lane in np.flatnonzero(mask):
        place = addresses[lane : lane + 1]
        before = _word(space, place, bits)
        old[lane] = before
        if "CMP" in operation and before != int(compared[lane]):
            continue  # which writes nothing: what is read may be constant
        after = combined(operation, int(before), int(values[lane]), int(compared[lane]), bits)
        _set_word(space, place, after, bits)
    returns = target >= 0 and (kind == SHARED or _returns(instruction))
    counter = COUNTERS[wave.family][kind if returns or kind == SHARED else STORES]
    if returns:
        wave.write(target, old, bits, mask)
    wave.start(counter, range(target, target + bits // 32) if returns else ())


def _returns(instruction: Any) -> bool:
    """Return whether the old value is wanted."""
    return any(bool(field_of(instruction, name, 0)) for name in ("glc", "sc0")) or bool(
        field_of(instruction, "th", 0) & 1
    )


def _word(space: Space, place: Array, bits: int) -> int:
    low = int(space.load(place, 4)[0])
    return low | int(space.load(place + np.uint64(4), 4)[0]) << 32 if bits == 64 else low


def _set_word(space: Space, place: Array, value: int, bits: int) -> None:
    for half in range(bits // 32):
        word = np.array([(value >> 32 * half) & 0xFFFFFFFF], np.uint64)
        space.store(place + np.uint64(4 * half), word, 4)


def combined(operation: str, old: int, value: int, compared: int, bits: int) -> int:
    """Return the value that an atomic operation leaves in memory."""
    base = re.sub(r"_?(U32|U64|I32|I64|B32|B64|X2)$", "", operation)
    mask, sign = (1 << bits) - 1, 1 << bits - 1
    if base in ("CMPSWAP", "CMPSTORE", "CMPST"):
        return value if old == compared else old
    if base in ("ADD_F32", "ADD_F64", "PK_ADD_F16", "PK_ADD_BF16"):
        return _added(base, old, value)
    signed_old, signed_value = (old ^ sign) - sign, (value ^ sign) - sign
    results = {
        "ADD": old + value, "SUB": old - value, "AND": old & value, "OR": old | value, "XOR": old ^ value,
        "SWAP": value, "STOREXCHG": value, "WRXCHG": value, "UMIN": min(old, value), "UMAX": max(old, value),
        "SMIN": min(signed_old, signed_value), "SMAX": max(signed_old, signed_value),
    }  # fmt: skip
    if base in ("MIN", "MAX"):
        base = ("S" if operation[-3] == "I" else "U") + base
    if base not in results:
        raise MachineFault(f"the machine does not know the atomic operation {operation}")
    return results[base] & mask


def _added(base: str, old: int, value: int) -> int:
    kinds = {"ADD_F32": (np.float32, "u4"), "ADD_F64": (np.float64, "u8"), "PK_ADD_F16": (np.float16, "u4")}
    if base not in kinds:
        raise MachineFault(f"the machine does not know the atomic operation {base}")
    kind, word = kinds[base]
    with np.errstate(all="ignore"):
        total = np.array([old], word).view(kind) + np.array([value], word).view(kind)
    return int(total.view(word)[0])
