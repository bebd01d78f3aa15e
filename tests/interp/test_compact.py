"""Compact tiles: every result, every fault and every change of memory is that of the rules that know only arrays."""

import random

import numpy as np
import pytest

import tileir
from tests.interp.interp_kernels import checked, memory_of
from tests.thorough import sampled
from tileir.examples.checks import EXAMPLES
from tileir.interp import machine
from tileir.interp.api import BlockState, LaunchState, Options
from tileir.interp.compact import CompactPreparation, CompactTile
from tileir.interp.memory import Memory
from tileir.interp.prepare import UNOBSERVED, Linker, Preparation
from tileir.interp.prepare import prepare as prepare_with
from tileir.ir.diagnostics import Trap
from tileir.ops.calls import Func
from tileir.ops.module import Entry

BOTH = (CompactPreparation, Preparation)


# ---------------------------------------------------------------- values


def results_of(text, preparation, *values):
    """Return the results of function @f of the program, prepared in this way."""
    module = checked(text)
    op = next(item for item in module.items if isinstance(item, Func))
    function = Linker(module, machine.TABLES, False, preparation, UNOBSERVED).prepare(op)
    block = BlockState((0, 0, 0), LaunchState("f", (1, 1, 1), Memory(), Options()))
    with np.errstate(all="ignore"):
        return function.body.run_here(function.frame(values), block)


def check_values(text, *values):
    compact, plain = (results_of(text, preparation, *values) for preparation in BOTH)
    for one, two in zip(compact, plain, strict=True):
        same = not isinstance(one, CompactTile) and one.dtype == two.dtype and np.array_equal(one, two)
        assert same and np.shape(one) == np.shape(two), f"{text}\n{values}\n{one}\n{two}"


class Writer:
    """Writes a random function of integers on tiles of 4 x 8, from two scalars."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.element = self.random.choice(["i8", "i16", "i32", "i64"])
        self.lines, self.tiles, self.masks = [], [], []

    def emit(self, text, kind="tiles"):
        name = f"%v{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        getattr(self, kind).append(name)
        return name

    def axis(self, extent, before, after):
        """Numbers along one dimension as a tile of 4 x 8."""
        e = self.element
        row = f"tile<{before}{extent}{after}x{e}>"
        self.lines.append(f"%i{before}{extent} = iota : tile<{extent}x{e}>")
        self.lines.append(f"%r{before}{extent} = reshape %i{before}{extent} : tile<{extent}x{e}> -> {row}")
        self.emit(f"broadcast %r{before}{extent} : {row} -> tile<4x8x{e}>")

    def program(self):
        e = self.element
        self.axis(4, "", "x1")
        self.axis(8, "1x", "")
        for name in ("x", "y"):
            self.lines.append(f"%{name}1 = reshape %{name} : tile<{e}> -> tile<1x1x{e}>")
            self.emit(f"broadcast %{name}1 : tile<1x1x{e}> -> tile<4x8x{e}>")
        self.emit(f"constant <{e}: {self.random.choice([-1, 2, 5, 100])}> : tile<4x8x{e}>")
        for _ in range(12):
            self.step()
        shown = [*self.tiles[-6:], *self.masks]
        types = [f"tile<4x8x{e}>"] * 6 + ["tile<4x8xi1>"] * len(self.masks)
        body = "\n  ".join([*self.lines, f"return {', '.join(shown)} : {', '.join(types)}"])
        return f"experimental$func @f(%x: tile<{e}>, %y: tile<{e}>) -> ({', '.join(types)}) {{\n  {body}\n}}"

    def step(self):
        e, pick = self.element, self.random.choice
        kind = pick(["addi", "subi", "muli", "addi", "turn", "cmpi", "cmpi", "andi"])
        one, two = pick(self.tiles), pick(self.tiles)
        if kind == "cmpi":
            order = pick(["less_than", "less_than_or_equal", "greater_than", "greater_than_or_equal", "equal"])
            reading = pick(["signed", "unsigned"])
            self.emit(f"cmpi {order} {one}, {two}, {reading} : tile<4x8x{e}> -> tile<4x8xi1>", "masks")
        elif kind == "andi" and self.masks:
            self.emit(f"andi {pick(self.masks)}, {pick(self.masks)} : tile<4x8xi1>", "masks")
        elif kind == "turn":
            self.lines.append(f"%t{len(self.lines)} = permute {one} [1, 0] : tile<4x8x{e}> -> tile<8x4x{e}>")
            turned = f"%t{len(self.lines) - 1}"
            back = f"permute {turned} [1, 0]" if self.random.random() < 0.5 else f"reshape {turned}"
            self.emit(f"{back} : tile<8x4x{e}> -> tile<4x8x{e}>")
        else:
            name = kind if kind in ("subi", "muli") else "addi"
            self.emit(f"{name} {one}, {two} : tile<4x8x{e}>")


EDGES = (0, 1, -1, 2, 3, -7, 60, 126, -128)


@pytest.mark.parametrize("seed", sampled(range(60), 3))
def test_integers_and_masks_are_those_of_arrays(seed):
    writer = Writer(seed)
    text = writer.program()
    scalar = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}[writer.element]
    ends = np.iinfo(scalar)
    for x in writer.random.sample([*EDGES, ends.min, ends.max, ends.max - 5], 4):
        check_values(text, scalar(x), scalar(writer.random.choice(EDGES)))


@pytest.mark.parametrize("reading", ["signed", "unsigned"])
@pytest.mark.parametrize("first", [-3, 0, 5, 125, -128])
def test_widened_indices_are_those_of_arrays(reading, first):
    text = f"""experimental$func @f(%x: tile<i8>) -> (tile<8xi64>, tile<4x2xi64>) {{
      %one = reshape %x : tile<i8> -> tile<1xi8>
      %all = broadcast %one : tile<1xi8> -> tile<8xi8>
      %i = iota : tile<8xi8>
      %sum = addi %all, %i : tile<8xi8>
      %wide = exti %sum {reading} : tile<8xi8> -> tile<8xi64>
      %box = reshape %wide : tile<8xi64> -> tile<4x2xi64>
      return %wide, %box : tile<8xi64>, tile<4x2xi64>
    }}"""
    check_values(text, np.int8(first))


def test_tiles_in_every_kind_of_region_are_those_of_arrays():
    """Through an `if`, a `loop`, a `for`, an early exit and a reduction."""
    text = """
    experimental$func @f(%x: tile<i32>, %c: tile<i1>) -> (tile<8xi32>, tile<8xi32>, tile<8xi32>, tile<i32>) {
      %i = iota : tile<8xi32>
      %one = reshape %x : tile<i32> -> tile<1xi32>
      %all = broadcast %one : tile<1xi32> -> tile<8xi32>
      %a = addi %i, %all : tile<8xi32>
      %zero = constant <i32: 0> : tile<i32>
      %step = constant <i32: 1> : tile<i32>
      %stop = constant <i32: 5> : tile<i32>
      %chosen = if %c -> (tile<8xi32>) {
        %b = addi %a, %a : tile<8xi32>
        yield %b : tile<8xi32>
      } else {
        yield %all : tile<8xi32>
      }
      %moved = for %k in (%zero to %stop, step %step) : tile<i32>
          iter_values(%at = %a) -> (tile<8xi32>) {
        %odd = remi %k, %stop signed : tile<i32>
        %late = cmpi greater_than %odd, %step, signed : tile<i32> -> tile<i1>
        if %late {
          %r = maxi %at, %chosen signed : tile<8xi32>
          continue %r : tile<8xi32>
        }
        %next = addi %at, %all : tile<8xi32>
        continue %next : tile<8xi32>
      }
      %looped = loop iter_values(%at = %all) : tile<8xi32> -> tile<8xi32> {
        %next = addi %at, %a : tile<8xi32>
        %total = reduce %next dim=0 identities=[0 : i32] : tile<8xi32> -> tile<i32>
          (%p: tile<i32>, %q: tile<i32>) {
            %s = addi %p, %q : tile<i32>
            yield %s : tile<i32>
          }
        %done = cmpi greater_than %total, %stop, signed : tile<i32> -> tile<i1>
        if %done { break %next : tile<8xi32> }
        continue %next : tile<8xi32>
      }
      %sum = reduce %a dim=0 identities=[0 : i32] : tile<8xi32> -> tile<i32>
        (%p: tile<i32>, %q: tile<i32>) {
          %s = addi %p, %q : tile<i32>
          yield %s : tile<i32>
        }
      return %chosen, %moved, %looped, %sum : tile<8xi32>, tile<8xi32>, tile<8xi32>, tile<i32>
    }"""
    for x in (1, 7, 2**31 - 3):
        for c in (False, True):
            check_values(text, np.int32(x), np.bool_(c))


# ---------------------------------------------------------------- memory

ADDRESSES = """
    %i = iota : tile<4xi32>
    %j = iota : tile<8xi32>
    %i2 = reshape %i : tile<4xi32> -> tile<4x1xi32>
    %j2 = reshape %j : tile<8xi32> -> tile<1x8xi32>
    %ii = broadcast %i2 : tile<4x1xi32> -> tile<4x8xi32>
    %jj = broadcast %j2 : tile<1x8xi32> -> tile<4x8xi32>
    %s1 = reshape %s : tile<i32> -> tile<1x1xi32>
    %ss = broadcast %s1 : tile<1x1xi32> -> tile<4x8xi32>
    %t1 = reshape %t : tile<i32> -> tile<1x1xi32>
    %tt = broadcast %t1 : tile<1x1xi32> -> tile<4x8xi32>
    %f1 = reshape %first : tile<i32> -> tile<1x1xi32>
    %ff = broadcast %f1 : tile<1x1xi32> -> tile<4x8xi32>
    %down = muli %ii, %ss : tile<4x8xi32>
    %along = muli %jj, %tt : tile<4x8xi32>
    %both = addi %down, %along : tile<4x8xi32>
    %offsets = addi %both, %ff : tile<4x8xi32>
    %M1 = reshape %M : tile<i32> -> tile<1x1xi32>
    %MM = broadcast %M1 : tile<1x1xi32> -> tile<4x8xi32>
    %N1 = reshape %N : tile<i32> -> tile<1x1xi32>
    %NN = broadcast %N1 : tile<1x1xi32> -> tile<4x8xi32>
    %mi = cmpi less_than %ii, %MM, signed : tile<4x8xi32> -> tile<4x8xi1>
    %mj = cmpi less_than %jj, %NN, signed : tile<4x8xi32> -> tile<4x8xi1>
    %mask = andi %mi, %mj : tile<4x8xi1>
"""
PARAMETERS = "%s: tile<i32>, %t: tile<i32>, %first: tile<i32>, %M: tile<i32>, %N: tile<i32>"


def pointers(name, element):
    return f"""
    %{name}1 = reshape %{name} : tile<ptr<{element}>> -> tile<1x1xptr<{element}>>
    %{name}2 = broadcast %{name}1 : tile<1x1xptr<{element}>> -> tile<4x8xptr<{element}>>
    %{name}3 = offset %{name}2, %offsets : tile<4x8xptr<{element}>>, tile<4x8xi32> -> tile<4x8xptr<{element}>>
"""


def loading(element, padding):
    """Loads a tile at first + i * s + j * t, as far as i < M and j < N, and stores it row by row."""
    pad = f", %pad : tile<4x8xptr<{element}>>, tile<4x8xi1>, tile<4x8x{element}>"
    bare = f" : tile<4x8xptr<{element}>>, tile<4x8xi1>"
    return f"""entry @k(%A: tile<ptr<{element}>>, %C: tile<ptr<{element}>>, {PARAMETERS}) {{
    {ADDRESSES}{pointers("A", element)}
    %pad = constant <{element}: 1> : tile<4x8x{element}>
    %x, %r = load_ptr_tko weak %A3, %mask{pad if padding else bare} -> tile<4x8x{element}>, token
    %eight = constant <i32: 8> : tile<4x8xi32>
    %rows = muli %ii, %eight : tile<4x8xi32>
    %places = addi %rows, %jj : tile<4x8xi32>
    %C1 = reshape %C : tile<ptr<{element}>> -> tile<1x1xptr<{element}>>
    %C2 = broadcast %C1 : tile<1x1xptr<{element}>> -> tile<4x8xptr<{element}>>
    %C3 = offset %C2, %places : tile<4x8xptr<{element}>>, tile<4x8xi32> -> tile<4x8xptr<{element}>>
    %w = store_ptr_tko weak %C3, %x : tile<4x8xptr<{element}>>, tile<4x8x{element}> -> token
    }}"""


def storing(masked):
    """Stores 8 * i + j at first + i * s + j * t."""
    end = (
        ", %mask : tile<4x8xptr<i32>>, tile<4x8xi32>, tile<4x8xi1>"
        if masked
        else " : tile<4x8xptr<i32>>, tile<4x8xi32>"
    )
    return f"""entry @k(%A: tile<ptr<i32>>, {PARAMETERS}) {{
    {ADDRESSES}{pointers("A", "i32")}
    %eight = constant <i32: 8> : tile<4x8xi32>
    %rows = muli %ii, %eight : tile<4x8xi32>
    %value = addi %rows, %jj : tile<4x8xi32>
    %w = store_ptr_tko weak %A3, %value{end} -> token
    }}"""


def outcome(text, preparation, arrays, addresses, numbers):
    """Return the arrays after a launch on copies, its output, and how often it asked for single addresses."""
    module = checked(text)
    entry = next(item for item in module.items if isinstance(item, Entry))
    memory, asked = memory_of(arrays), []
    resolve = memory.resolve
    memory.resolve = lambda *given: (asked.append(1), resolve(*given))[1]
    places = [np.uint64(arrays[name].__array_interface__["data"][0] + shift) for name, shift in addresses]
    values = [*places, *map(np.int32, numbers)]
    program = prepare_with(module, entry, machine.TABLES, False, kind=preparation)
    try:
        machine.execute(program, (1, 1, 1), values, memory, Options())
    except Trap as trap:
        return None, (str(trap), trap.block, trap.array, trap.index, kept_bytes(arrays)), len(asked)
    return memory.changes, kept_bytes(arrays), len(asked)


def kept_bytes(arrays):
    return [array.tobytes() for array in arrays.values()]


def check_memory(text, make, numbers, shift=0):
    """Compare with arrays; give how often single addresses were asked for with compact tiles, and whether it faults."""
    arrays = make()
    kept = {name: array.copy() for name, array in arrays.items()}
    addresses = [(name, shift if name == "a" else 0) for name in arrays]
    found = []
    for preparation in BOTH:
        for name, array in arrays.items():
            array[...] = kept[name]
        found.append(outcome(text, preparation, arrays, addresses, numbers))
    compact, plain = found
    assert compact[:2] == plain[:2]
    assert plain[2] > 0 or plain[0] == 0
    return compact[2], compact[0] is None


def two_arrays(dtype):
    return lambda: {"a": (np.arange(300) % 100).astype(dtype), "c": np.zeros(32, dtype)}


def test_functions_are_given_arrays():
    text = """cuda_tile.module @m {
      experimental$func @moved(%p: tile<8xptr<f32>>, %by: tile<8xi32>) -> tile<8xptr<f32>> {
        %q = offset %p, %by : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
        return %q : tile<8xptr<f32>>
      }
      entry @k(%a: tile<ptr<f32>>, %c: tile<ptr<f32>>, %n: tile<i32>) {
        %i = iota : tile<8xi32>
        %a1 = reshape %a : tile<ptr<f32>> -> tile<1xptr<f32>>
        %a8 = broadcast %a1 : tile<1xptr<f32>> -> tile<8xptr<f32>>
        %c1 = reshape %c : tile<ptr<f32>> -> tile<1xptr<f32>>
        %c8 = broadcast %c1 : tile<1xptr<f32>> -> tile<8xptr<f32>>
        %n1 = reshape %n : tile<i32> -> tile<1xi32>
        %n8 = broadcast %n1 : tile<1xi32> -> tile<8xi32>
        %j = muli %i, %n8 : tile<8xi32>
        %p = experimental$call @moved(%a8, %j) : (tile<8xptr<f32>>, tile<8xi32>) -> tile<8xptr<f32>>
        %q = offset %c8, %i : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
        %x, %t = load_ptr_tko weak %p : tile<8xptr<f32>> -> tile<8xf32>, token
        %u = store_ptr_tko weak %q, %x token=%t : tile<8xptr<f32>>, tile<8xf32> -> token
      }
    }"""
    assert check_memory(text, two_arrays(np.float32), (3,)) == (1, False)
    assert check_memory(text, two_arrays(np.float32), (60,))[1]


BOXES = {
    "rows": (8, 1, 0, 4, 8),
    "a_window": (20, 2, 5, 4, 8),
    "turned": (1, 30, 3, 4, 8),
    "the_same_row": (0, 1, 7, 4, 8),
    "one_element": (0, 0, 7, 4, 8),
    "part": (10, 1, 1, 3, 5),
    "one_row": (10, 1, 1, 1, 8),
    "last_elements": (8, 1, 268, 4, 8),
    "part_beyond_the_end": (100, 1, 0, 3, 8),
    "nothing": (10, 1, 1 << 30, 0, 8),
    "nothing_by_a_negative_limit": (10, 1, 0, 4, -3),
}
SINGLES = {
    "backward": (-10, 1, 200, 4, 8),
    "backward_both": (-10, -1, 250, 3, 7),
    "wrapping_twice": (1 << 30, 1, 0, 4, 8),
}
FAULTS = {
    "last_corner": (8, 1, 269, 4, 8),
    "first_corner": (8, 1, -1, 4, 8),
    "one_column": (100, 1, 0, 4, 1),
    "far": (1 << 20, 1, 0, 4, 8),
    "wrapping": (1 << 30, 1, 5, 4, 8),
    "overflowing": (10, 1, (1 << 31) - 3, 4, 8),
}


@pytest.mark.parametrize("padding", [True, False], ids=["padded", "bare"])
@pytest.mark.parametrize("name", [*BOXES, *SINGLES, *FAULTS])
def test_a_load_gives_or_says_what_it_does_by_addresses(name, padding):
    numbers = (BOXES | SINGLES | FAULTS)[name]
    asked, faulted = check_memory(loading("i32", padding), two_arrays(np.int32), numbers)
    assert faulted == (name in FAULTS or name == "wrapping_twice")
    assert (asked == 0) == (name in BOXES)


@pytest.mark.parametrize(
    ("element", "dtype"), [("i1", np.uint8), ("i8", np.int8), ("f16", np.float16), ("f64", np.float64)]
)
def test_elements_of_every_size_are_loaded_and_stored(element, dtype):
    text = loading(element, True).replace("<i1: 1>", "<i1: true>").replace(": 1> : tile<4x8xf", ": 1.0> : tile<4x8xf")
    for numbers in (BOXES["part"], BOXES["turned"], SINGLES["backward"]):
        check_memory(text, two_arrays(dtype), numbers)


@pytest.mark.parametrize("masked", [True, False], ids=["masked", "whole"])
@pytest.mark.parametrize("name", [*BOXES, *SINGLES, *FAULTS])
def test_a_store_leaves_or_says_what_it_does_by_addresses(name, masked):
    """Of elements that are stored twice the last one stays; a store that faults writes nothing."""
    numbers = (BOXES | SINGLES | FAULTS)[name]
    make = lambda: {"a": np.full(300, -1, np.int32)}  # noqa: E731
    _, faulted = check_memory(storing(masked), make, numbers)
    only_whole = () if masked else ("part_beyond_the_end", "nothing")
    assert faulted == (name in (*FAULTS, "wrapping_twice", *only_whole))


@pytest.mark.parametrize("numbers", [(4, 1, 0, 4, 8), (0, 1, 3, 4, 8), (3, 2, 0, 4, 7), (1, 1, 0, 4, 8)])
def test_overlapping_stores_go_address_by_address(numbers):
    asked, _ = check_memory(storing(True), lambda: {"a": np.full(300, -1, np.int32)}, numbers)
    assert asked == 1


def test_a_misaligned_pointer_faults_as_by_addresses():
    for text, make in (
        (loading("i32", True), two_arrays(np.int32)),
        (storing(True), lambda: {"a": np.zeros(300, "i4")}),
    ):
        _, faulted = check_memory(text, make, (8, 1, 0, 4, 8), shift=2)
        assert faulted


def test_products_and_sums_by_pointers_ask_for_boxes_only(monkeypatch):
    """The kernels for which there are compact tiles, at the edges too."""
    asked = []
    resolve = Memory.resolve
    monkeypatch.setattr(Memory, "resolve", lambda *given: (asked.append(given[1].shape), resolve(*given))[1])
    for name, sizes in (("gemm_kloop", {"M": 150, "N": 200, "K": 70}), ("vector_add", {"n": 3000})):
        example = next(one for one in EXAMPLES if one.name == name).resized(**sizes)
        arguments = example.arguments(example.sizes, np.random.default_rng(0))
        kernel = tileir.load(example.path)[example.kernel]
        kernel.launch(example.grid(example.sizes), *arguments.values(), target="interp")
    assert asked == []


def test_strict_mode_has_arrays_only():
    module = checked("""entry @f(%n: tile<i8>) {
      %i = iota : tile<8xi8>
      %one = reshape %n : tile<i8> -> tile<1xi8>
      %all = broadcast %one : tile<1xi8> -> tile<8xi8>
      %r = addi %i, %all : tile<8xi8>
      return
    }""")
    entry = next(iter(module.items))
    for mode, compact in (("strict", False), ("default", True)):
        template = machine.prepare(module, entry, Options(mode=mode)).function.template
        assert any(isinstance(value, CompactTile) for value in template) is compact


def test_addresses_up_to_the_last_one_are_those_of_arrays():
    """They wrap around at 2^64 as those of arrays do."""
    text = """experimental$func @f(%p: tile<ptr<f32>>) -> tile<8xptr<f32>> {
      %one = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
      %all = broadcast %one : tile<1xptr<f32>> -> tile<8xptr<f32>>
      %i = iota : tile<8xi64>
      %c = constant <i64: -3> : tile<8xi64>
      %r = muli %i, %c : tile<8xi64>
      %q = offset %all, %r : tile<8xptr<f32>>, tile<8xi64> -> tile<8xptr<f32>>
      return %q : tile<8xptr<f32>>
    }"""
    for address in (0, 4, 84, 1 << 63, (1 << 64) - 4):
        check_values(text, np.uint64(address))
