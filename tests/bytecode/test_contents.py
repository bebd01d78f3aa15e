"""Constants, types, names, attributes and locations survive writing and reading, in the form the file gives them."""

import random
import struct

import pytest
from bytecode_programs import TYPES, VIEW, module_of, supplied
from damaged_files import TYPES as RAW_TYPES
from damaged_files import Draft, table
from hypothesis import given
from hypothesis import strategies as st

from tileir import bytecode
from tileir.bytecode import tables
from tileir.bytecode.sections import Section, read_file
from tileir.ir import attributes as a
from tileir.ir import loc as l
from tileir.ir import types as t
from tileir.ir.compare import identical
from tileir.ir.core import Block
from tileir.ir.diagnostics import DiagnosticError
from tileir.ir.versions import VERSIONS
from tileir.ops import OPS
from tileir.ops.module import Global

NUMBERS = tuple(t.ELEMENTS.values())
each_element = pytest.mark.parametrize("element", NUMBERS, ids=[element.name for element in NUMBERS])


def round_trip(module, version=None):
    return bytecode.decode(bytecode.encode(module, version))


def constant_module(value: a.DenseElements):
    block = Block()
    block.append(OPS["constant"].build([value.type], value=value))
    return module_of(block)


def constant_of(module) -> a.DenseElements:
    return module.items[0].regions[0].ops[0].attributes["value"]


def payload(data: bytes, section: Section) -> bytes:
    cursor = read_file(data).payloads[section]
    return cursor.data[cursor.at : cursor.end]


def random_elements(element: t.ElementType, count: int, seed: int = 0) -> bytes:
    generator = random.Random(seed)
    shift = 13 if element is t.TF32 else 0
    patterns = [generator.getrandbits(element.bits) << shift for _ in range(count)]
    return b"".join(pattern.to_bytes(element.byte_size, "little") for pattern in patterns)


# ---------------------------------------------------------------- constants


@each_element
@pytest.mark.parametrize("shape", [(), (2,), (2, 4), (32,), (1, 64)])
def test_constants_of_every_element_type_survive(element, shape):
    if element is t.F4E2M1FN and not shape:
        return
    type = t.TileType(shape, element)
    for seed in range(3):
        value = a.DenseElements.of(type, random_elements(element, type.count, seed))
        assert constant_of(round_trip(constant_module(value))) == value
    splat = a.DenseElements.of(type, random_elements(element, 1) * type.count)
    assert splat.is_splat
    assert constant_of(round_trip(constant_module(splat))) == splat


@pytest.mark.parametrize(
    ("element", "data", "wire"),
    [
        (t.I1, bytes([1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]), "09 02"),
        (t.I1, bytes(16), "00"),
        (t.I1, bytes([1]) * 16, "ff"),
        (t.TF32, struct.pack("<f", 1.0) * 16, "00 fc 01"),
        (t.I4, bytes(range(16)), " ".join(f"{byte:02x}" for byte in range(16))),
        (t.F16, b"\x00\x3c" * 16, "00 3c"),
    ],
)
def test_constants_have_these_bytes(element, data, wire):
    value = a.DenseElements(t.tile(element, 16), data)
    assert tables.pack(value) == bytes.fromhex(wire)
    assert (
        tables.unpack(bytes.fromhex(wire), 16, element, 0) == a.DenseElements.of(value.type, data).data or len(wire) < 9
    )


def test_a_full_constant_of_equal_elements_is_held_as_a_splat():
    assert a.DenseElements.of(t.tile(t.I8, 4), bytes([7]) * 4).is_splat
    entry = bytes([4, 7, 7, 7, 7])
    types = (*RAW_TYPES[:1], bytes.fromhex("0d 08 01 04 00 00 00 00 00 00 00"), *RAW_TYPES[2:], b"\x01")
    types = (*types[:2], bytes.fromhex("10 00 00"), *types[3:])
    draft = Draft(types=types, constants=(entry,), body=bytes.fromhex("10 01 00 5c 00 00"))
    assert constant_of(bytecode.decode(draft.build())).data == b"\x07"


def test_noise_around_narrow_elements_is_dropped():
    assert tables.unpack(b"\xf5\x2a", 2, t.I4, 0) == b"\x05\x0a"
    assert tables.unpack(b"\x00\xfc\xf9", 1, t.TF32, 0) == struct.pack("<I", 0x1FC00 << 13)
    assert tables.unpack(b"\xfe", 2, t.I1, 0) == b"\x00\x01"
    assert tables.unpack(b"\xfe", 16, t.I1, 0) == b"\x00"


def test_equal_constants_are_stored_once():
    block = Block()
    for _ in range(5):
        block.append(
            OPS["constant"].build([t.tile(t.I32, 4)], value=a.DenseElements(t.tile(t.I32, 4), bytes(range(16))))
        )
    data = bytecode.encode(module_of(block))
    assert payload(data, Section.CONSTANT)[0] == 1


def test_a_constant_used_often_is_decoded_once():
    type = t.tile(t.I8, 1 << 16)
    value = a.DenseElements.of(type, bytes(range(256)) * 256)
    block = Block()
    for _ in range(1000):
        block.append(OPS["constant"].build([type], value=value))
    again = round_trip(module_of(block))
    held = {id(op.attributes["value"].data) for op in again.items[0].regions[0].ops[:-1]}
    assert len(held) == 1


# ---------------------------------------------------------------- types

MORE_TYPES = (
    *TYPES,
    *(t.tile(element, 2) for element in NUMBERS),
    t.TensorViewType(t.BF16, (), ()),
    t.TensorViewType(t.F64, (None, 7, (1 << 63) - 1), (None, None, 1)),
    t.PartitionViewType((4, 8), VIEW, None, (1, 0)),
    *(t.PartitionViewType((4, 8), VIEW, padding) for padding in t.PaddingValue),
    t.GatherScatterViewType((4, 8), VIEW, 1, t.PaddingValue.NEG_INF),
    *(t.TileType((), t.PointerType(t.F32, attr)) for attr in t.PointerAttr),
    *(t.TensorViewType(t.F32, (None,), (1,), attr) for attr in t.PointerAttr),
)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("type", MORE_TYPES, ids=repr)
def test_types_survive_in_every_version_that_has_them(type, version):
    block, _ = supplied([type])
    try:
        data = bytecode.encode(module_of(block), version)
    except DiagnosticError:
        assert version != VERSIONS[-1]
        return
    again = bytecode.decode(data).items[0].regions[0]
    assert [value.type for value in [*again.args, *again.ops[0].results]] == [type]


def test_types_in_use_may_come_in_any_order_and_twice():
    draft = Draft(types=(b"\x0d\x03\x00", b"\x0d\x04\x00", b"\x10\x02\x00\x01\x00", b"\x03", b"\x03"))
    inputs = bytecode.decode(draft.build()).items[0].attributes["function_type"].inputs
    assert inputs == (t.tile(t.I32),) * 2


# ---------------------------------------------------------------- names and text


@given(st.binary(min_size=1, max_size=20))
def test_names_are_any_bytes(name):
    held = name.decode("utf-8", "surrogateescape")
    data = bytecode.encode(module_of(Block(), sym_name=held))
    assert name in payload(data, Section.STRING)
    assert bytecode.decode(data).items[0].attributes["sym_name"] == held


def test_odd_names_are_shown_without_control_characters():
    draft = Draft(strings=(b"a\nb\xff\x00" + b"x" * 500, b"", b"x"), body=b"\x19")
    with pytest.raises(DiagnosticError) as raised:
        bytecode.decode(draft.build())
    text = str(raised.value)
    assert text.isprintable() and text.isascii() and len(text) < 500
    assert "@a\\nb" in text


def test_the_module_is_called_kernels_and_the_producer_is_kept():
    module = module_of(Block())
    module.op.attributes |= {"sym_name": "mine", "producer": "someone"}
    assert round_trip(module).op.attributes == {"sym_name": "kernels", "producer": "someone"}
    assert "producer" not in round_trip(module, "13.2").op.attributes
    assert bytecode.encode(module)[9] == 3


def test_globals_come_before_entries():
    module = module_of(Block())
    value = a.DenseElements.of(t.tile(t.F32, 2), bytes(range(8)))
    table_ = Global([], [], {"sym_name": "table", "value": value, "alignment": 64, "constant": True})
    hidden = {"sym_name": "hidden", "value": value, "symbol_visibility": a.Visibility.PRIVATE}
    for item in (table_, Global([], [], hidden)):
        module.op.regions[0].append(item)
    again = round_trip(module)
    assert [item.attributes["sym_name"] for item in again.items] == ["table", "hidden", "k"]
    assert again.items[0].attributes == table_.attributes
    assert again.items[1].attributes == hidden


# ---------------------------------------------------------------- attributes

TREES = st.recursive(
    st.one_of(
        st.integers(-(1 << 63), (1 << 63) - 1).map(lambda value: a.IntegerAttr(value, t.I64)),
        st.integers(-8, 7).map(lambda value: a.IntegerAttr(value, t.I4)),
        st.integers(0, (1 << 64) - 1).map(lambda bits: a.FloatAttr(bits, t.F64)),
        st.integers(0, (1 << 19) - 1).map(lambda bits: a.FloatAttr(bits, t.TF32)),
        st.integers(0, 15).map(lambda bits: a.FloatAttr(bits, t.F4E2M1FN)),
        st.booleans().map(a.BoolAttr),
        st.text(max_size=5).filter(lambda text: text.isprintable()).map(a.StringAttr),
        st.sampled_from(MORE_TYPES).map(a.TypeAttr),
        st.builds(a.Bounded, st.none() | st.integers(-9, 9), st.none() | st.integers(-9, 9)),
        st.builds(a.DivBy, st.integers(0, (1 << 64) - 1), st.integers(-9, 9), st.none() | st.integers(-9, 9)),
        st.lists(st.integers(-(1 << 63), (1 << 63) - 1)).map(tuple).map(a.SameElements),
    ),
    lambda inner: (
        st.lists(inner, max_size=4).map(tuple).map(a.ArrayAttr)
        | st.dictionaries(st.sampled_from("abc"), inner).map(a.DictAttr.of)
    ),
    max_leaves=12,
)


@given(TREES)
def test_attributes_of_every_kind_survive_as_hints(value):
    hints = a.OptimizationHints(a.DictAttr.of({"sm_90": a.DictAttr.of({"key": value})}))
    assert round_trip(module_of(Block(), optimization_hints=hints)).items[0].attributes["optimization_hints"] == hints


def test_a_reduction_kind_is_an_attribute_from_13_5_on():
    hints = a.DictAttr.of({"sm_90": a.DictAttr.of({"kind": a.EnumAttr(a.MultimemReduction.XOR)})})
    module = module_of(Block(), optimization_hints=a.OptimizationHints(hints))
    assert bytecode.encode(module)[9] == 5
    assert identical(round_trip(module), module)


# ---------------------------------------------------------------- locations

FILE = l.DIFile("a.py", "/d")
SCOPE = l.DISubprogram(FILE, 1, "k", "k", l.DICompileUnit(FILE), 1)
INSIDE = l.DILoc(l.FileLoc("a.py", 2, 3), SCOPE)
PLAIN = l.FileLoc("b.py", 4, 5)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (INSIDE, INSIDE),
        (l.CallSiteLoc(INSIDE, INSIDE), l.CallSiteLoc(INSIDE, INSIDE)),
        (l.CallSiteLoc(PLAIN, INSIDE), l.CallSiteLoc(l.UNKNOWN, INSIDE)),
        (l.NameLoc("here", INSIDE), INSIDE),
        (l.FusedLoc((PLAIN, INSIDE)), INSIDE),
        (l.FusedLoc((PLAIN,)), None),
        (PLAIN, None),
        (l.UNKNOWN, None),
    ],
    ids=lambda loc: type(loc).__name__,
)
def test_a_location_keeps_the_part_that_has_a_debug_scope(written, read):
    block = Block()
    block.append(OPS["make_token"].build([t.TOKEN], loc=written))
    module = module_of(block)
    module.items[0].loc = INSIDE
    found = round_trip(module).items[0].regions[0].ops[0].loc
    assert found == (read or l.BytecodeLoc.at("<bytes>", "function @k, op 0 'make_token'", found.offset))


def test_without_a_location_of_its_own_an_entry_loses_those_of_its_operations():
    block = Block()
    block.append(OPS["make_token"].build([t.TOKEN], loc=INSIDE))
    data = bytecode.encode(module_of(block))
    assert Section.DEBUG not in read_file(data).payloads


def test_a_place_in_the_file_is_the_location_of_what_has_no_other():
    data = bytecode.encode(module_of(Block()), "13.1")
    entry = bytecode.decode(data, "k.tileirbc").items[0]
    final = entry.regions[0].ops[0]
    assert final.loc == l.BytecodeLoc.at("k.tileirbc", "function @k, op 0 'return'", data.index(b"\x5c\x00\x00"))
    assert entry.loc == l.BytecodeLoc.at("k.tileirbc", "function @k", final.loc.offset - 5)


def test_places_count_on_in_a_long_function():
    block = Block()
    for _ in range(1000):
        block.append(OPS["make_token"].build([t.TOKEN]))
    found = bytecode.decode(bytecode.encode(module_of(block), "13.1")).items[0].regions[0].ops
    assert [op.loc.path for op in found[:-1]] == [f"function @k, op {at} 'make_token'" for at in range(1000)]
    assert [op.loc.offset - found[0].loc.offset for op in found] == [2 * at for at in range(1001)]


def test_sections_may_come_in_any_order_and_with_larger_alignments():
    draft = Draft()
    data = b"\x7fTileIR\x00\x0d\x03\x00\x00"
    for section, content in (
        (Section.STRING, table((b"k", b"", b"x"), 4)),
        (Section.TYPE, table(RAW_TYPES, 4)),
        (Section.FUNCTION, draft.functions()),
    ):
        data += bytes([0x80 | section, len(content), 64])
        data += b"\x00" * (-len(data) % 64) + content
    assert identical(bytecode.decode(data + b"\x00"), bytecode.decode(draft.build()))
