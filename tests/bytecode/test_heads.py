"""Heads of instructions that were read before are found by their bytes, which must not change what is read."""

import pickle
import random

import pytest

from tileir import bytecode, parse
from tileir.bytecode.head_reader import HeadReader
from tileir.ir.core import NO_ATTRIBUTES
from tileir.ir.diagnostics import DiagnosticError
from tileir.text.printer import to_text

PROGRAM = """cuda_tile.module @m {
  entry @a(%x: tile<4xf32>, %p: tile<ptr<f32>>) {
    %u = addf %x, %x rounding<zero> : tile<4xf32>
    %v = addf %u, %x : tile<4xf32>
    %w = addf %v, %u rounding<zero> : tile<4xf32>
    %c = constant <f32: 2.0> : tile<f32>
    %d = constant <f32: 2.0> : tile<f32>
    %l, %t = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token
    %k, %s = load_ptr_tko weak %p token=%t : tile<ptr<f32>> -> tile<f32>, token
    %y = permute %x [0] : tile<4xf32> -> tile<4xf32>
  }
  entry @b(%x: tile<4xf32>) {
    %u = addf %x, %x rounding<zero> : tile<4xf32>
    %m = reduce %u dim=0 identities=[0.0 : f32] : tile<4xf32> -> tile<f32>
      (%f: tile<f32>, %g: tile<f32>) {
        %h = addf %f, %g rounding<zero> : tile<f32>
        yield %h : tile<f32>
      }
  }
}
"""


def many_types(count: int) -> str:
    """Additions of more types than one byte has numbers for, each with and without a rounding mode."""
    lines = [
        f"  entry @k{at}(%x: tile<{1 << at % 8}x{1 << at // 8}xf32>) {{\n"
        f"    %a = addf %x, %x : tile<{1 << at % 8}x{1 << at // 8}xf32>\n"
        f"    %b = addf %a, %x rounding<zero> : tile<{1 << at % 8}x{1 << at // 8}xf32>\n"
        f"    %c = addf %b, %x : tile<{1 << at % 8}x{1 << at // 8}xf32>\n  }}\n"
        for at in range(count)
    ]
    return "cuda_tile.module @m {\n" + "".join(lines) + "}\n"


def outcome(data: bytes) -> str:
    """The text of the module, or what is said of the fault."""
    try:
        return to_text(bytecode.decode(data))
    except DiagnosticError as error:
        return str(error)


@pytest.mark.parametrize("text", [PROGRAM, many_types(90)], ids=["kinds", "types"])
def test_a_module_is_the_same_when_heads_come_again(text):
    module = parse(text)
    again = to_text(bytecode.decode(bytecode.encode(module)))
    expected = to_text(module).replace("@m ", "@kernels ")
    assert (again == expected) is True


def test_damaged_heads_are_reported_as_if_none_was_kept(monkeypatch):
    """Each byte of a file changed, and the file cut at each byte; bodies are cut inside heads that are known."""
    data = bytecode.encode(parse(PROGRAM))
    picks = random.Random(1)
    damaged = [data[:at] for at in range(len(data))]
    for at in range(len(data)):
        changes = {0, 1, 0x7F, 0x80, 0xFF, (data[at] + 1) % 256, (data[at] - 1) % 256, picks.randrange(256)}
        damaged += [data[:at] + bytes([byte]) + data[at + 1 :] for byte in changes]
    with_kept = [outcome(one) for one in damaged]
    monkeypatch.setattr(HeadReader, "known", lambda reader, cursor: None)
    differing = [at for at, one in enumerate(damaged) if outcome(one) != with_kept[at]]
    assert differing == []


def test_operations_of_the_same_head_share_attributes_that_cannot_be_changed():
    block = bytecode.decode(bytecode.encode(parse(PROGRAM))).items[0].regions[0]
    first, other, third, *_, last = block.ops
    assert first.attributes is third.attributes is not other.attributes
    assert last.attributes is NO_ATTRIBUTES
    for change in (lambda held: held.clear(), lambda held: held.update(a=1), lambda held: held.pop("rounding_mode")):
        with pytest.raises(TypeError, match="expected attributes of one operation"):
            change(first.attributes)
    with pytest.raises(TypeError, match="change a copy"):
        first.attributes["rounding_mode"] = None
    own = first.attributes.copy()
    own.clear()
    assert first.attributes and type(own) is dict


def test_shared_attributes_stay_shared_when_they_are_pickled():
    first, _, third, *_ = bytecode.decode(bytecode.encode(parse(PROGRAM))).items[0].regions[0].ops
    again, other = pickle.loads(pickle.dumps((first.attributes, third.attributes)))
    assert again is other and again == first.attributes
