"""Programs that cannot be written, and their diagnostics: every one, with the operation and the version needed."""

import pytest
from bytecode_programs import module_of

from tileir import bytecode
from tileir.ir import attributes as a
from tileir.ir import loc as l
from tileir.ir import types as t
from tileir.ir.core import Block
from tileir.ir.diagnostics import DiagnosticError
from tileir.ops import OPS
from tileir.ops.module import Global
from tileir.text.parser import parse
from tileir.tools.optimise import optimize

F32 = t.tile(t.F32)
I32 = t.tile(t.I32)


def faults(module, version=None, **options) -> list[tuple[str, str]]:
    with pytest.raises(DiagnosticError) as raised:
        bytecode.encode(module, version, **options)
    return [(fault.code, fault.message) for fault in raised.value.diagnostics]


def entry(body: str, arguments: str = "%x: tile<f32>, %i: tile<i32>, %p: tile<ptr<f32>>") -> object:
    return parse(f"cuda_tile.module @m {{ entry @k({arguments}) {{ {body} }} }}")


TOO_OLD = [
    ("%0 = atan2 %x, %x : tile<f32>", "13.1", "'atan2': the operation needs bytecode version 13.2"),
    (
        "%0 = exp %x rounding<approx> : tile<f32>",
        "13.2",
        "'exp': attribute 'rounding_mode' needs bytecode version 13.3",
    ),
    ("%0 = negi %i overflow<no_wrap> : tile<i32>", "13.1", "'negi': attribute 'overflow' needs bytecode version 13.2"),
    (
        "%0 = ftoi %x signed saturating : tile<f32> -> tile<i32>",
        "13.3",
        "'ftoi': attribute 'saturating' needs bytecode version 13.4",
    ),
    (
        "%0 = ftof %x rounding<nearest_away> : tile<f32> -> tile<f16>",
        "13.3",
        "'ftof': 'nearest_away' of attribute 'rounding_mode' needs bytecode version 13.4",
    ),
    (
        '%t = make_token : token %0 = print_tko "x" token=%t -> token',
        "13.1",
        "'print_tko': operand 'token' needs bytecode version 13.2",
    ),
    (
        '%0 = print_tko "x" -> token %1 = join_tokens %0, %0 : token',
        "13.1",
        "'print_tko': the use of result 'result_token' needs bytecode version 13.2",
    ),
    (
        "for unsigned %j in (%i to %i, step %i) : tile<i32> { }",
        "13.1",
        "'for': attribute 'unsignedCmp' needs bytecode version 13.2",
    ),
    (
        "%0 = ftof %x : tile<f32> -> tile<f8E8M0FNU>",
        "13.1",
        "'ftof': type 'f8E8M0FNU' needs bytecode version 13.2",
    ),
]


@pytest.mark.parametrize(("body", "version", "message"), TOO_OLD, ids=[message for *_, message in TOO_OLD])
def test_what_a_version_cannot_express_is_named_with_the_version_it_needs(body, version, message):
    assert ("E0951", f"{message}, got version {version}") in faults(entry(body), version)


def test_a_pointer_attribute_needs_13_4_or_13_5():
    for attr, since, older in ((t.PointerAttr.NONE, "13.4", "13.3"), (t.PointerAttr.MULTICAST, "13.5", "13.4")):
        module = module_of(Block([t.TileType((), t.PointerType(t.F32, attr))]))
        found = {message for _, message in faults(module, older)}
        assert found == {
            f"'entry': pointer attribute '{attr.text}' needs bytecode version {since}, got version {older}"
        }


def test_globals_are_neither_private_nor_constant_before_13_3():
    module = module_of(Block())
    value = a.DenseElements.of(t.tile(t.F32, 2), bytes(4))
    attributes = {"sym_name": "g", "value": value, "constant": True, "symbol_visibility": a.Visibility.PRIVATE}
    module.op.regions[0].append(Global([], [], attributes))
    assert [message for _, message in faults(module, "13.2")] == [
        "'global': attribute 'constant' needs bytecode version 13.3, got version 13.2",
        "'global': attribute 'symbol_visibility' needs bytecode version 13.3, got version 13.2",
    ]


def test_values_equal_to_the_default_of_older_versions_are_written():
    body = '%0 = exp %x rounding<full> : tile<f32> %1 = negi %i overflow<none> : tile<i32> print_tko "x" -> token'
    assert bytecode.encode(entry(body))[9] == 1


def test_all_faults_are_reported_each_with_its_place():
    module = entry(
        "%0 = atan2 %x, %x : tile<f32>\n %1 = pack %i : tile<i32> -> tile<4xi8>\n %2 = atan2 %0, %0 : tile<f32>"
    )
    with pytest.raises(DiagnosticError) as raised:
        bytecode.encode(module, "13.1")
    found = [(fault.op, fault.loc.file_loc.line) for fault in raised.value.diagnostics]
    assert found == [("atan2", 1), ("pack", 2), ("atan2", 3)]


@pytest.mark.parametrize("version", ["13.0", "13.6", "14.1", "newest", ""])
def test_versions_that_do_not_exist(version):
    [(code, message)] = faults(module_of(Block()), version)
    assert code == "E0953"
    assert f"got '{version}'" in message


def test_operations_of_text_only_are_named():
    module = entry("%0 = experimental$asin %x : tile<f32>")
    assert faults(module) == [("E0955", "'experimental$asin': the operation has no bytecode in any version")]


def test_a_function_is_to_be_inlined():
    text = """cuda_tile.module @m {
  experimental$func @f(%a: tile<i32>) -> tile<i32> { return %a : tile<i32> }
  entry @k(%a: tile<i32>) {
    %b = experimental$call @f(%a) : (tile<i32>) -> tile<i32>
    print_tko "%i", %b : tile<i32> -> token
  }
}"""
    module = parse(text)
    with pytest.raises(DiagnosticError) as raised:
        bytecode.encode(module)
    hints = {fault.op: fault.hint for fault in raised.value.diagnostics}
    assert hints.keys() == {"experimental$func", "experimental$call"}
    assert all(hint is not None and hint.startswith("'tileir opt --passes inline' puts") for hint in hints.values())
    bytecode.encode(optimize(module, passes="inline"))


@pytest.mark.parametrize("type", ["token", "tensor_view<64xf32, strides=[1]>"])
def test_13_5_has_only_tiles_as_arguments_of_entries(type):
    module = entry("", f"%i: tile<i32>, %v: {type}")
    assert faults(module, "13.5") == [
        ("E0957", f"'entry' argument 1: expected a scalar tile in version 13.5, got {type}")
    ]
    bytecode.encode(module, "13.4")


def test_only_entries_and_globals_stand_in_a_module():
    module = module_of(Block())
    module.op.regions[0].append(OPS["make_token"].build([t.TOKEN]))
    assert faults(module)[0][0] == "E0950"


def test_a_reduction_body_is_pure():
    body = Block([F32, F32])
    body.append(OPS["print_tko"].build([t.TOKEN], str="x", args=[]))
    body.append(OPS["yield"].build(operands=[body.args[0]]))
    block = Block([t.tile(t.F32, 4)])
    fields = {"dim": 0, "identities": a.ArrayAttr((a.FloatAttr(0, t.F32),)), "operands": [block.args[0]]}
    block.append(OPS["reduce"].build([F32], body=body, **fields))
    assert faults(module_of(block)) == [
        ("E0950", "'print_tko': expected only operations without memory effects inside 'reduce'")
    ]


# ---------------------------------------------------------------- modules that no verifier would pass


def addi(block: Block, **fields) -> object:
    return OPS["addi"].build([I32], **({"lhs": block.args[0], "rhs": block.args[0]} | fields))


def value_of_another_block() -> object:
    block = Block([I32])
    block.append(addi(block, rhs=Block([I32]).args[0]))
    return block


def value_used_before_it_is_there() -> object:
    block = Block([I32])
    later = addi(block)
    block.append(addi(block, lhs=later.results[0]))
    block.append(later)
    return block


def value_of_a_region_used_outside() -> object:
    block, inner = Block([t.tile(t.I1)]), Block()
    hidden = inner.append(OPS["make_token"].build([t.TOKEN]))
    inner.append(OPS["yield"].build(operands=[]))
    block.append(OPS["if"].build([], condition=block.args[0], then=inner))
    block.append(OPS["join_tokens"].build([t.TOKEN], tokens=[hidden.results[0]]))
    return block


def operands_missing() -> object:
    block = Block([I32])
    block.append(OPS["addi"].build([I32], lhs=block.args[0]))
    return block


def results_missing() -> object:
    block = Block([I32])
    block.append(OPS["addi"].build([], lhs=block.args[0], rhs=block.args[0]))
    return block


def attribute(op: str, results: list, **fields) -> object:
    block = Block([I32, t.TileType((), t.PointerType(t.F32))])
    values = dict.fromkeys(OPS[op].spec.operand_index, block.args[0])
    block.append(OPS[op].build(results, **values, **fields))
    return block


def region(*blocks) -> object:
    block = Block([I32])
    block.append(OPS["loop"]([], [], {}, blocks))
    return block


MALFORMED = {
    "value of another block": (value_of_another_block, "E0956", "defined before and visible here"),
    "value used before it is there": (value_used_before_it_is_there, "E0956", "defined before and visible here"),
    "value of a region used outside": (value_of_a_region_used_outside, "E0956", "defined before and visible here"),
    "operands missing": (operands_missing, "E0956", "expected the declared operands"),
    "results missing": (results_missing, "E0956", "expected 1 results, got 0"),
    "attribute missing": (lambda: attribute("cmpi", [I32]), "E0956", "comparison_predicate': expected a value of"),
    "attribute of another kind": (lambda: attribute("addi", [I32], overflow="none"), "E0956", "got str"),
    "integer too wide": (lambda: attribute("cat", [I32], dim=1 << 70), "E0919", "expected an integer of 64 bits"),
    "array element too wide": (lambda: attribute("permute", [I32], permutation=(1 << 40,)), "E0919", "32-bit integers"),
    "array of text": (lambda: attribute("permute", [I32], permutation=("x",)), "E0919", "32-bit integers"),
    "empty symbol": (lambda: attribute("get_global", [I32], name=""), "E0956", "the name of a symbol"),
    "half a surrogate": (lambda: attribute("assert", [], message="\ud800"), "E0956", "can be written as UTF-8"),
    "attribute without encoding": (
        lambda: attribute("assume", [I32], predicate=a.UnitAttr()),
        "E0954",
        "an attribute that bytecode can hold",
    ),
    "no region": (lambda: region(), "E0956", "expected 1 regions, got 0"),
    "no block": (lambda: region(None), "E0956", "expected a block in region 'body'"),
    "no terminator": (lambda: region(Block([I32])), "E0956", "ends with a terminator, got an empty block"),
}


@pytest.mark.parametrize(("block", "code", "part"), MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_module_is_a_diagnostic(block, code, part):
    [(found, message)] = faults(module_of(block()))
    assert found == code
    assert part in message


def test_an_entry_without_a_terminator_or_body():
    module = module_of(Block())
    module.items[0].regions[0].ops.clear()
    assert faults(module)[0][0] == "E0956"
    module.items[0].regions = (None,)
    assert faults(module)[0][0] == "E0956"


def test_an_entry_without_a_name_or_signature():
    assert faults(module_of(Block(), sym_name=""))[0][0] == "E0956"
    assert faults(module_of(Block(), function_type=7))[0][0] == "E0956"


def test_constant_data_of_the_wrong_length():
    type = t.tile(t.I32, 4)
    block = Block()
    block.append(OPS["constant"].build([type], value=a.DenseElements(type, bytes(7))))
    assert faults(module_of(block)) == [
        ("E0956", "'constant', attribute 'value': expected 4 or 16 bytes of data for tile<4xi32>, got 7")
    ]


def test_nesting_beyond_what_is_read():
    block = Block()
    block.append(OPS["break"].build(operands=[]))
    for _ in range(200):
        outer = Block()
        outer.append(OPS["loop"].build([], initValues=[], body=block))
        outer.append(OPS["break"].build(operands=[]))
        block = outer
    assert faults(module_of(block))[0][0] == "E0931"
    nested: a.Attribute = a.BoolAttr(True)
    for _ in range(200):
        nested = a.ArrayAttr((nested,))
    hints = a.OptimizationHints(a.DictAttr.of({"sm_90": a.DictAttr.of({"x": nested})}))
    assert faults(module_of(Block(), optimization_hints=hints))[0][0] == "E0931"


def test_locations_without_a_scope_are_a_fault_only_when_strict():
    file = l.DIFile("a.py", "/d")
    inside = l.DILoc(l.FileLoc("a.py", 2, 3), l.DISubprogram(file, 1, "k", "k", l.DICompileUnit(file), 1))
    block = Block()
    block.append(OPS["make_token"].build([t.TOKEN], loc=l.NameLoc("here", inside)))
    module = module_of(block)
    module.items[0].loc = inside
    bytecode.encode(module)
    [(code, message)] = faults(module, strict=True)
    assert code == "E0952"
    assert message.startswith("'make_token'")
