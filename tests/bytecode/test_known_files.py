"""Files whose every byte is known: whole modules, debug sections and single instructions."""

import pytest
from bytecode_programs import VIEW, body, module_of

from tileir import bytecode
from tileir.bytecode.sections import Section, read_file
from tileir.ir import attributes as a
from tileir.ir import loc as l
from tileir.ir import types as t
from tileir.ir.compare import identical
from tileir.ir.core import Block
from tileir.ops import OPS
from tileir.ops.control import Return

I32 = t.tile(t.I32)
POINTER = t.TileType((), t.PointerType(t.F32))

MODULE_13_3 = bytes.fromhex(
    """
    7f 54 69 6c 65 49 52 00  0d 03 00 00
    82 18 08 cb  01 00 02 02 00 0b  10 01 00  03 01 01 00 01  5c 00 00  cb cb cb cb cb cb cb
    84 15 08 cb cb cb cb cb  01 cb cb cb cb cb cb cb  00 00 00 00 00 00 00 00  04 07 00 00 00
    85 18 04  03 cb cb cb  00 00 00 00 01 00 00 00 04 00 00 00  03  0d 00 00  10 01 01 00
    07 01 01
    81 0e 04 cb cb  02 cb cb cb  00 00 00 00 01 00 00 00  6b 70
    00
    """
)
BODY_13_3, BODY_13_5 = bytes.fromhex("00 0b 10"), bytes.fromhex("00 0b 00 06 00 0b 10")


def increment():
    """%0 = 7; %1 = addi %arg0, %0."""
    block = Block([I32])
    seven = block.append(OPS["constant"].build([I32], value=a.DenseElements.of(I32, (7).to_bytes(4, "little"))))
    operands = {"lhs": block.args[0], "rhs": seven.results[0]}
    block.append(OPS["addi"].build([I32], overflow=a.Overflow.NO_SIGNED_WRAP, **operands))
    module = module_of(block)
    module.op.attributes["producer"] = "p"
    return module


def test_a_whole_module_of_13_3_is_written_byte_for_byte():
    assert len(MODULE_13_3) == 119
    assert bytecode.encode(increment(), "13.3") == MODULE_13_3
    assert bytecode.encode(increment()) == MODULE_13_3


def test_a_whole_module_of_13_3_is_read():
    assert identical(bytecode.decode(MODULE_13_3), increment())


def test_the_same_module_of_13_5_always_has_hints_and_argument_attributes():
    payload = read_file(bytecode.encode(increment(), "13.5")).payloads[Section.FUNCTION]
    data = payload.data[payload.at : payload.end]
    assert data.startswith(bytes.fromhex("01 00 02 02") + BODY_13_5)
    before = read_file(MODULE_13_3).payloads[Section.FUNCTION]
    assert before.data[before.at : before.end].startswith(bytes.fromhex("01 00 02 02") + BODY_13_3)
    assert identical(bytecode.decode(bytecode.encode(increment(), "13.5")), increment())


def debug_module():
    file = l.DIFile("a.py", "/d")
    scope = l.DISubprogram(file, 7, "foo", "k0", l.DICompileUnit(file), 8)
    caller = l.DILoc(l.FileLoc("a.py", 10, 20), scope)
    callee = l.DILoc(l.FileLoc("a.py", 31, 41), l.DILexicalBlock(scope, file, 30, 40))
    block = Block([I32])
    block.append(OPS["addi"].build([I32], callee, lhs=block.args[0], rhs=block.args[0]))
    block.append(Return.build(loc=l.CallSiteLoc(callee, caller)))
    module = module_of(block, sym_name="k0")
    module.items[0].loc = caller
    return module


def debug_payload(version):
    payload = read_file(bytecode.encode(debug_module(), version)).payloads[Section.DEBUG]
    return payload.data[payload.at : payload.end]


def test_a_debug_section_is_written_byte_for_byte():
    # Strings: 0 "k0", 1 "a.py", 2 "/d", 3 "foo". The operations take records 4, 6 and 7.
    assert debug_payload("13.3") == bytes.fromhex(
        """
        01 cb cb cb  00 00 00 00
        03 cb cb cb cb cb cb cb  04 00 00 00 00 00 00 00  06 00 00 00 00 00 00 00  07 00 00 00 00 00 00 00
        07 cb cb cb  00 00 00 00  03 00 00 00  05 00 00 00  0c 00 00 00  11 00 00 00  16 00 00 00  1b 00 00 00
        02 01 02   01 01   05 01 07 03 00 02 08   04 03 01 0a 14   03 03 01 1e 28   04 05 01 1f 29   06 06 04
        """
    )


def test_a_subprogram_of_13_5_has_flags():
    assert bytes.fromhex("05 01 07 03 00 02 08 00 04 03") in debug_payload("13.5")


@pytest.mark.parametrize("version", ["13.1", "13.3", "13.5"])
def test_debug_locations_survive(version):
    again = bytecode.decode(bytecode.encode(debug_module(), version))
    assert [op.loc for op in again.walk()][1:] == [op.loc for op in debug_module().walk()][1:]


# ---------------------------------------------------------------- single instructions
# Types 0 i1, 1 i32, then in order of first use; the instruction starts behind the entry's head.


def instruction(version, op, results=(), arguments=(), **fields):
    """The bytes of one instruction in the body of an entry with these arguments; `fields` name arguments by number."""
    block = Block(arguments)
    for name in [operand.name for operand in op.spec.operands]:
        if name in fields:
            chosen = fields[name]
            one = isinstance(chosen, int)
            fields[name] = block.args[chosen] if one else [block.args[index] for index in chosen]
    block.append(op.build(list(results), **fields))
    data = bytecode.encode(module_of(block), version)
    payload = read_file(data).payloads[Section.FUNCTION]
    at = payload.data.index(bytes([op.spec.opcode]), payload.at + 5)
    return payload.data[at : payload.end]


TILE = t.tile(t.F32, 4)
BASE = t.TileType((4,), t.PointerType(t.F32))
MASK = t.tile(t.I1, 4)
PVIEW = t.PartitionViewType((4, 8), VIEW)
LOADED = t.tile(t.F32, 4, 8)
SAMPLES = [
    # addf: result type, flush_to_zero, rounding zero, operands; types: f32 0, tile 1
    (
        "13.3",
        "addf",
        [TILE],
        [TILE, TILE],
        {"rounding_mode": a.Rounding.ZERO, "flush_to_zero": True, "lhs": 0, "rhs": 1},
        "02 01 01 01 00 01",
    ),
    ("13.3", "maxf", [TILE], [TILE, TILE], {"flush_to_zero": True, "lhs": 0, "rhs": 1}, "45 01 02 00 01"),
    # load_ptr_tko: types f32 0, ptr 1, tile 2, token 3, function 4, tile<4xf32> 5; flags: token
    (
        "13.3",
        "load_ptr_tko",
        [TILE, t.TOKEN],
        [BASE, t.TOKEN],
        {"memory_ordering_semantics": a.MemoryOrdering.WEAK, "source": 0, "token": 1},
        "3d 05 03 10 00 00 01",
    ),
    # load_view_tko: types: f32 0, view 1, pview 2, i32 3, tile<i32> 4, token 5, function 6, tile 7
    (
        "13.3",
        "load_view_tko",
        [LOADED, t.TOKEN],
        [PVIEW, I32, t.TOKEN],
        {"memory_ordering_semantics": a.MemoryOrdering.WEAK, "view": 0, "index": [1, 1], "token": 2},
        "3e 02 07 05 04 00 00 02 01 01 02",
    ),
    (
        "13.4",
        "load_view_tko",
        [LOADED, t.TOKEN],
        [PVIEW, I32, t.TOKEN],
        {
            "memory_ordering_semantics": a.MemoryOrdering.WEAK,
            "view": 0,
            "index": [1, 1],
            "token": 2,
            "inbounds": (True, False),
        },
        "3e 02 07 05 04 00 02 01 00 00 02 01 01 02",
    ),
    (
        "13.4",
        "load_view_tko",
        [LOADED, t.TOKEN],
        [PVIEW, I32, t.TOKEN],
        {"memory_ordering_semantics": a.MemoryOrdering.WEAK, "view": 0, "index": [1, 1], "token": 2},
        "3e 02 07 05 04 00 02 00 00 00 02 01 01 02",
    ),
    # store_ptr_tko: token; flags scope, mask, token; relaxed sys
    (
        "13.1",
        "store_ptr_tko",
        [t.TOKEN],
        [BASE, TILE, MASK, t.TOKEN],
        {
            "memory_ordering_semantics": a.MemoryOrdering.RELAXED,
            "memory_scope": a.MemoryScope.SYS,
            "destination": 0,
            "value": 1,
            "mask": 2,
            "token": 3,
        },
        "65 06 0d 01 02 00 01 02 03",
    ),
    # make_tensor_view: one result, base, shapes, strides
    (
        "13.3",
        "make_tensor_view",
        [VIEW],
        [POINTER, I32],
        {"base": 0, "dynamicShape": [1], "dynamicStrides": []},
        "43 01 06 00 01 01 00",
    ),
    # print_tko: strings 0 "k", 1 "%f"
    ("13.1", "print_tko", [t.TOKEN], [TILE], {"str": "%f", "args": [0]}, "55 00 01 01 00"),
    ("13.2", "print_tko", [t.TOKEN], [TILE], {"str": "%f", "args": [0]}, "55 01 03 00 01 01 00"),
    (
        "13.3",
        "ftoi",
        [I32],
        [t.tile(t.F32)],
        {"signedness": a.Signedness.SIGNED, "rounding_mode": a.Rounding.NEAREST_INT_TO_ZERO, "from": 0},
        "2b 04 01 06 00",
    ),
    (
        "13.4",
        "ftoi",
        [I32],
        [t.tile(t.F32)],
        {"signedness": a.Signedness.SIGNED, "rounding_mode": a.Rounding.NEAREST_INT_TO_ZERO, "from": 0},
        "2b 04 00 01 06 00",
    ),
]


@pytest.mark.parametrize(("version", "name", "results", "arguments", "fields", "data"), SAMPLES)
def test_an_instruction_has_these_bytes(version, name, results, arguments, fields, data):
    assert instruction(version, OPS[name], results, arguments, **fields).startswith(bytes.fromhex(data))


def test_for_has_a_flags_byte_only_from_13_2():
    fields = {"lowerBound": 0, "upperBound": 0, "step": 0, "initValues": [0]}
    for version, flags in (("13.1", ""), ("13.2", "00")):
        data = instruction(version, OPS["for"], [I32], [I32], **fields, body=body([]))
        # one result; flags; four operands; one region, one block, two arguments (i32, token), two operations
        assert data.startswith(bytes.fromhex(f"29 01 01 {flags} 04 00 00 00 00 01 01 02 01 03 02"))


def test_an_if_without_else_has_an_empty_region():
    then = Block()
    then.append(OPS["yield"].build(operands=[]))
    data = instruction("13.3", OPS["if"], [], [t.tile(t.I1)], condition=0, then=then)
    assert data.startswith(bytes.fromhex("32 00 00 02 01 00 01 6d 00 00 00 5c"))


def test_identities_carry_tag_type_and_pattern():
    combine = Block([t.tile(t.F32), t.tile(t.F32)])
    combine.append(OPS["yield"].build(operands=[combine.args[0]]))
    identities = a.ArrayAttr((a.FloatAttr(0, t.F32),))
    fields = {"dim": 1, "identities": identities, "operands": [0], "body": combine}
    data = instruction("13.3", OPS["reduce"], [TILE], [LOADED], **fields)
    # one result; dim; one identity: float tag, type, bits; one operand; region
    assert data.startswith(bytes.fromhex("58 01 03 01 01 02 00 00 01 00 01 01 02 04 04 01 6d 00 01 01"))


ATTRIBUTES = [
    (a.DivBy(16), "08 10 00"),
    (a.DivBy(16, 4, 1), "08 10 03 08 02"),
    (a.Bounded(0, None), "0c 01 00"),
    (a.Bounded(-5, 5), "0c 03 09 0a"),
    (a.SameElements((1, 2)), "09 02 01 00 00 00 00 00 00 00 02 00 00 00 00 00 00 00"),
]


@pytest.mark.parametrize(("predicate", "data"), ATTRIBUTES)
def test_a_predicate_has_these_bytes(predicate, data):
    found = instruction("13.1", OPS["assume"], [I32], [I32], predicate=predicate, value=0)
    assert found.startswith(bytes.fromhex(f"06 01 {data} 00"))
