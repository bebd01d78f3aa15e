"""Modules, kernels and launches: the public interface, the order of checks, globals, overlapping arrays."""

import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

import tileir
from tileir.runtime.grid import MAX_EXTENT, checked_grid
from tileir.runtime.module import available_targets, target_named

TWO = """
cuda_tile.module @demo {
  entry @first(%out: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %t = store_ptr_tko weak %out, %one : tile<ptr<i32>>, tile<i32> -> token
    return
  }
  entry @second() { return }
}
"""

BLOCKS = """
entry @k(%out: tile<ptr<i32>>) {
  %x, %y, %z = get_tile_block_id : tile<i32>
  %nx, %ny, %nz = get_num_tile_blocks : tile<i32>
  %a = muli %z, %ny : tile<i32>
  %b = addi %a, %y : tile<i32>
  %c = muli %b, %nx : tile<i32>
  %d = addi %c, %x : tile<i32>
  %p = offset %out, %d : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  %one = constant <i32: 1> : tile<i32>
  %e = addi %d, %one : tile<i32>
  %t = store_ptr_tko weak %p, %e : tile<ptr<i32>>, tile<i32> -> token
  return
}
"""


class TestModule:
    def test_kernels_by_name_in_program_order(self):
        module = tileir.parse(TWO)
        assert list(module.kernels) == ["first", "second"]
        assert module["first"] is module.kernels["first"]
        assert module["first"].name == "first"

    def test_what_they_look_like(self):
        module = tileir.parse(TWO)
        assert repr(module) == "<tileir module @demo, kernels: @first, @second>"
        assert repr(module["first"]) == "<tileir kernel @first(out: tile<ptr<i32>>)>"
        assert repr(tileir.parse("cuda_tile.module @none { }")) == "<tileir module @none, kernels: none>"

    def test_an_unknown_kernel_is_a_key_error_with_the_known_ones(self):
        with pytest.raises(KeyError, match="no kernel @third in <tileir module @demo, kernels: @first, @second>"):
            tileir.parse(TWO)["third"]
        with pytest.raises(KeyError, match="third"):
            tileir.launch(tileir.parse(TWO), "third", 1, target="interp")
        with pytest.raises(KeyError, match="no kernel @0 in <tileir module @demo"):
            tileir.parse(TWO)[0]

    def test_parameters_have_names_and_types(self):
        (parameter,) = tileir.parse(TWO)["first"].parameters
        assert (parameter.name, repr(parameter.type), parameter.index) == ("out", "tile<ptr<i32>>", 0)

    def test_parameters_without_names_are_numbered(self):
        module = tileir.from_bytecode(tileir.to_bytecode(tileir.parse(TWO)))
        assert [parameter.name for parameter in module["first"].parameters] == ["arg0"]

    @pytest.mark.parametrize("module", [None, "demo.mlir", tileir.parse(TWO)["second"]])
    def test_what_is_no_module_is_refused(self, module):
        with pytest.raises(TypeError, match="module: expected a module"):
            tileir.launch(module, "second", 1)


class TestLaunch:
    def test_by_kernel_and_by_name(self):
        module, out = tileir.parse(TWO), np.zeros(2, np.int32)
        module["first"].launch(1, out, target="interp")
        tileir.launch(module, "first", (1,), [out[1:]], target="interp")
        tileir.launch(module, "second", 1, target="interp")
        assert out.tolist() == [1, 1]

    def test_a_module_built_in_memory(self):
        from tileir.ir.core import Module

        parsed, out = tileir.parse(TWO), np.zeros(1, np.int32)
        tileir.launch(Module(parsed.op), "first", 1, [out], target="interp", check=True)
        assert out[0] == 1

    @pytest.mark.parametrize(
        "grid", [6, (6,), [3, 2], (1, 2, 3), np.array([2, 3]), np.array(6), (np.int64(2), 3), range(2, 4)]
    )
    def test_every_tile_block_of_the_grid_runs(self, grid):
        out = np.zeros(6, np.int32)
        tileir.parse(BLOCKS)["k"].launch(grid, out, target="interp")
        assert out.tolist() == [1, 2, 3, 4, 5, 6]

    @pytest.mark.parametrize(
        ("grid", "error", "text"),
        [
            ((), ValueError, "expected 1 to 3 positive integers, got 0 of them"),
            ((1, 1, 1, 1), ValueError, "got 4 of them"),
            (0, ValueError, f"expected extents in [1, {MAX_EXTENT}], got 0"),
            ((1, -2), ValueError, "got -2"),
            ((1 << 24,), ValueError, "got 16777216"),
            (1.0, TypeError, "expected 1 to 3 positive integers, got 1.0"),
            ((1, 2.5), TypeError, "got (1, 2.5)"),
            ("11", TypeError, "got '11'"),
            (None, TypeError, "got None"),
            (True, TypeError, "got True"),
            ((None, 1), TypeError, "got (None, 1)"),
            (np.zeros(5000), TypeError, "got an object of type ndarray; the grid comes before the kernel's arguments"),
            (np.ones(5000, np.int32), TypeError, "the grid comes before the kernel's arguments"),
            (np.ones((3, 2), np.int32), TypeError, "the grid comes before the kernel's arguments"),
        ],
    )
    def test_grids_that_are_refused(self, grid, error, text):
        with pytest.raises(error) as caught:
            tileir.parse(TWO)["second"].launch(grid, target="interp")
        assert str(caught.value).startswith("kernel @second, grid: ")
        assert text in str(caught.value)

    def test_a_grid_in_brackets_is_told_of_launch(self):
        with pytest.raises(TypeError, match=r"launch it with kernel.launch\(grid, ...\)"):
            tileir.parse(TWO)["second"][(4,)](1)

    def test_the_largest_extent_is_a_grid(self):
        assert checked_grid((1, MAX_EXTENT), "k") == (1, MAX_EXTENT, 1)

    @pytest.mark.parametrize("count", [0, 2])
    def test_a_wrong_number_of_arguments(self, count):
        with pytest.raises(TypeError) as caught:
            tileir.parse(TWO)["first"].launch(1, *[np.zeros(1, np.int32)] * count, target="interp")
        assert str(caught.value) == f"kernel @first: expected 1 argument (out: tile<ptr<i32>>), got {count}"

    def test_arguments_for_a_kernel_without_parameters(self):
        with pytest.raises(TypeError, match="kernel @second: expected no arguments, got 1"):
            tileir.parse(TWO)["second"].launch(1, 5, target="interp")

    def test_parameters_that_a_launch_cannot_pass(self):
        text = "entry @k(%v: tensor_view<4xf32, strides=[1]>) { return }"
        with pytest.raises(tileir.DiagnosticError, match=r"E0815.* argument 0: expected a scalar tile"):
            tileir.parse(text)["k"].launch(1, np.zeros(4, np.float32), target="interp")

    def test_nothing_runs_if_an_argument_is_wrong(self):
        out = np.zeros(1, np.int32)
        text = TWO.replace("%out: tile<ptr<i32>>", "%out: tile<ptr<i32>>, %n: tile<i32>")
        with pytest.raises(ValueError, match="parameter 1 'n'"):
            tileir.parse(text)["first"].launch(1, out, 1 << 40, target="interp")
        assert out[0] == 0

    def test_an_invalid_program_is_refused_each_time(self):
        module = tileir.parse(TWO.replace("store_ptr_tko weak", "store_ptr_tko relaxed"))
        for _ in range(2):
            with pytest.raises(tileir.DiagnosticError) as caught:
                module["first"].launch(1, np.zeros(1, np.int32), target="interp")
            assert caught.value.codes
        assert not tileir.verify(module).ok

    def test_a_program_is_verified_once(self, monkeypatch):
        calls = []
        package = sys.modules["tileir.verify"]
        original = package.verify
        monkeypatch.setattr(package, "verify", lambda module: calls.append(module) or original(module))
        module = tileir.parse(TWO)
        for _ in range(3):
            module["second"].launch(1, target="interp")
        assert len(calls) == 1

    def test_a_kernel_that_spins_until_another_block_stores_ends(self):
        text = """
entry @k(%flag: tile<ptr<i32>>) {
  %x, %y, %z = get_tile_block_id : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %last = cmpi equal %x, %one, signed : tile<i32> -> tile<i1>
  if %last {
    %t = store_ptr_tko release device %flag, %one : tile<ptr<i32>>, tile<i32> -> token
  } else {
    loop {
      %seen, %t = load_ptr_tko acquire device %flag : tile<ptr<i32>> -> tile<i32>, token
      %done = cmpi equal %seen, %one, signed : tile<i32> -> tile<i1>
      if %done { break }
      continue
    }
  }
  return
}
"""
        tileir.parse(text)["k"].launch(2, np.zeros(1, np.int32), target="interp")


class TestTargets:
    def test_one_that_does_not_exist_is_unsupported(self):
        with pytest.raises(tileir.UnsupportedError, match=r"no such target: expected one of interp.*'nowhere'"):
            tileir.parse(TWO)["second"].launch(1, target="nowhere")

    def test_all_are_listed_with_a_description(self):
        assert "reference interpreter" in available_targets()["interp"]
        assert target_named("interp").name == "interp"

    def test_an_option_that_the_target_lacks(self):
        with pytest.raises(TypeError, match=r"an option .*max_iterations, mode, .*, got 'speed'"):
            tileir.parse(TWO)["second"].launch(1, speed=3, target="interp")

    def test_an_option_of_a_wrong_value(self):
        with pytest.raises(ValueError, match="mode: expected one of default, strict, off, got 'hard'"):
            tileir.parse(TWO)["second"].launch(1, mode="hard", target="interp")

    def test_output_goes_where_it_is_sent(self):
        text = 'entry @k(%n: tile<i32>) { %t = print_tko "n=%d", %n : tile<i32> -> token return }'
        said = []
        tileir.parse(text)["k"].launch(1, 42, output=said.append, target="interp")
        assert said == ["n=42"]


GLOBALS = """
cuda_tile.module @m {
  global @counter <i32: [5, 7]> : tile<2xi32>
  global constant @table alignment = 64 <i32: [10, 20, 30, 40]> : tile<4xi32>
  entry @count(%out: tile<ptr<i32>>) {
    %p = get_global @counter : tile<ptr<i32>>
    %one = constant <i32: 1> : tile<i32>
    %old, %t = atomic_rmw_tko relaxed device %p, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %u = store_ptr_tko weak %out, %old token=%t : tile<ptr<i32>>, tile<i32> -> token
    return
  }
  entry @read(%out: tile<ptr<i32>>, %i: tile<i32>) {
    %base = get_global @table : tile<ptr<i32>>
    %p = offset %base, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %x, %t = load_ptr_tko weak %p : tile<ptr<i32>> -> tile<i32>, token
    %u = store_ptr_tko weak %out, %x token=%t : tile<ptr<i32>>, tile<i32> -> token
    return
  }
  entry @write() {
    %p = get_global @table : tile<ptr<i32>>
    %one = constant <i32: 1> : tile<i32>
    %t = store_ptr_tko weak %p, %one : tile<ptr<i32>>, tile<i32> -> token
    return
  }
  entry @address(%out: tile<ptr<i64>>) {
    %p = get_global @table : tile<ptr<i32>>
    %x = ptr_to_int %p : tile<ptr<i32>> -> tile<i64>
    %t = store_ptr_tko weak %out, %x : tile<ptr<i64>>, tile<i64> -> token
    return
  }
}
"""


@pytest.fixture
def globals_module():
    return tileir.parse(GLOBALS)


class TestGlobals:
    def test_they_are_initialised_once_and_persist_between_launches(self, globals_module):
        out = np.zeros(1, np.int32)
        for expected in (5, 6, 7):
            globals_module["count"].launch(1, out, target="interp")
            assert out[0] == expected

    def test_each_loaded_module_has_its_own(self):
        out = np.zeros(1, np.int32)
        for _ in range(2):
            tileir.parse(GLOBALS)["count"].launch(1, out, target="interp")
            assert out[0] == 5

    def test_constants_can_be_read_and_not_written(self, globals_module):
        out = np.zeros(1, np.int32)
        globals_module["read"].launch(1, out, 3, target="interp")
        assert out[0] == 40
        with pytest.raises(tileir.Trap, match="store of i32 at byte offset 0 of '@table': the memory is constant"):
            globals_module["write"].launch(1, target="interp")

    def test_their_number_needs_no_room_on_the_stack_of_the_caller(self):
        count = 20_000
        items = "\n".join(f"global @g{number} <i32: {number}> : tile<1xi32>" for number in range(count))
        text = f"""cuda_tile.module @m {{ {items}
          entry @k(%p: tile<ptr<i32>>) {{
            %last = get_global @g{count - 1} : tile<ptr<i32>>
            %x, %t = load_ptr_tko weak %last : tile<ptr<i32>> -> tile<i32>, token
            %u = store_ptr_tko weak %p, %x : tile<ptr<i32>>, tile<i32> -> token
            return
          }} }}"""
        kernel, found = tileir.parse(text)["k"], np.zeros(3, np.int32)
        usual = threading.stack_size(512 << 10)
        try:
            caller = threading.Thread(target=lambda: [kernel.launch(1, found[at:]) for at in range(3)])
            caller.start()
        finally:
            threading.stack_size(usual)
        caller.join()
        assert found.tolist() == [count - 1] * 3

    def test_past_the_end_is_a_trap(self, globals_module):
        with pytest.raises(tileir.Trap, match="load of i32 at byte offset 16 of '@table'"):
            globals_module["read"].launch(1, np.zeros(1, np.int32), 4, target="interp")

    def test_they_are_aligned(self, globals_module):
        out = np.zeros(1, np.int64)
        globals_module["address"].launch(1, out, target="interp")
        assert out[0] % 64 == 0

    @pytest.mark.parametrize(
        ("element", "literal", "image"),
        [
            ("i1", "[true, false, true, true]", "01000101"),
            ("f4E2M1FN", "[0.5, 1.0, 1.5, 2.0]", "2143"),
            ("tf32", "1.0", "0000803f" * 4),
            ("i16", "[1, 2, 3, -1]", "010002000300ffff"),
        ],
    )
    def test_their_image_in_memory(self, element, literal, image):
        module = tileir.parse(f"cuda_tile.module @m {{ global @g <{element}: {literal}> : tile<4x{element}> }}")
        placed = module.globals.placed["g"]
        start = placed.address - placed.buffer.ctypes.data
        assert placed.buffer[start : start + placed.size].tobytes().hex() == image


class TestOverlappingArrays:
    TEXT = """
entry @k(%a: tile<ptr<i32>>, %b: tile<ptr<i32>>) {
  %x, %t = load_ptr_tko weak %a : tile<ptr<i32>> -> tile<i32>, token
  %one = constant <i32: 1> : tile<i32>
  %y = addi %x, %one : tile<i32>
  %u = store_ptr_tko weak %b, %y token=%t : tile<ptr<i32>>, tile<i32> -> token
  return
}
"""

    def test_the_same_array_twice(self):
        array = np.array([4], np.int32)
        tileir.parse(self.TEXT)["k"].launch(1, array, array, target="interp")
        assert array[0] == 5

    def test_views_of_one_array(self):
        array = np.arange(8, dtype=np.int32)
        tileir.parse(self.TEXT)["k"].launch(1, array[2:6], array[1::3], target="interp")
        assert array.tolist() == [0, 3, 2, 3, 4, 5, 6, 7]


class TestImport:
    def test_importing_tileir_imports_no_numpy(self):
        code = (
            "import sys, tileir; assert 'numpy' not in sys.modules and 'torch' not in sys.modules; print(tileir.verify)"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("<function verify")

    def test_every_public_name_can_be_had(self):
        for name in tileir.__all__:
            assert getattr(tileir, name) is not None
        assert set(tileir.__all__) <= set(dir(tileir))
        with pytest.raises(AttributeError, match="module 'tileir' has no attribute 'nothing'"):
            tileir.nothing  # noqa: B018

    def test_verify_stays_the_function(self):
        import tileir.verify.verifier

        assert callable(tileir.verify)


def test_no_warning_for_a_launch_without_fault():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tileir.parse(BLOCKS)["k"].launch(4, np.zeros(4, np.int32), target="interp")


class TestCheck:
    WRAPS = "entry @k(%n: tile<i32>) { %s = addi %n, %n overflow<no_signed_wrap> : tile<i32> }"

    @pytest.mark.parametrize("target", ["cpu", "interp"])
    def test_strict_checks_stop_at_undefined_behaviour(self, target):
        kernel = tileir.parse(self.WRAPS)["k"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            kernel.launch(1, 0x7FFFFFFF, target=target)
        with pytest.raises(tileir.Trap):
            kernel.launch(1, 0x7FFFFFFF, target=target, check="strict")

    @pytest.mark.parametrize("target", ["cpu", "interp"])
    def test_another_word_is_refused(self, target):
        with pytest.raises(ValueError, match="check: expected True, False or 'strict', got 'loose'"):
            tileir.parse(self.WRAPS)["k"].launch(1, 1, target=target, check="loose")


class TestClaims:
    """A view that claims more than its array has is warned of at the first launch of a kernel."""

    LINE = "shape = [%promised], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>"
    ROWS = "shape = [%promised, 8], strides = [16, 1] : tile<i32> -> tensor_view<?x8xf32, strides=[16,1]>"

    def warned(self, array, n, form=LINE, **options):
        module = tileir.parse(f"""entry @k(%x: tile<ptr<f32>>, %n: tile<i32>) {{
          %promised = assume div_by<4>, %n : tile<i32>
          %t = make_tensor_view %x, {form}
        }}""")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for _ in range(2):
                module["k"].launch(2, array, n, **options)
        return [one.message.message for one in caught if isinstance(one.message, tileir.KernelWarning)]

    @pytest.mark.parametrize("target", ["interp", "cpu"])
    def test_once(self, target):
        expected = ["the view claims 1000 elements of 'x', which has 256"]
        assert self.warned(np.zeros(256, np.float32), 1000, target=target) == expected

    def test_of_rows(self):
        rows = np.zeros((4, 16), np.float32)
        assert self.warned(rows, 4, self.ROWS) == self.warned(rows[:, :8], 4, self.ROWS) == []
        assert self.warned(rows, 8, self.ROWS) == ["the view claims 120 elements of 'x', which has 64"]

    @pytest.mark.parametrize("target", ["interp", "cpu"])
    def test_of_a_transposed_array_that_is_read_as_if_it_were_not(self, target):
        form = "shape = [%promised, 8], strides = [{0}] : tile<i32> -> tensor_view<?x8xf32, strides=[{0}]>"
        turned = np.zeros((8, 4), np.float32).T
        message = "the view has strides [8, 1], but those of 'x' are [1, 4]: its elements are mixed up"
        assert self.warned(turned, 4, form.format("8,1"), target=target) == [message]
        assert self.warned(turned, 4, form.format("1,4"), target=target) == []
        assert self.warned(np.zeros((4, 8), np.float32), 4, form.format("8,1"), target=target) == []

    def test_not_of_none_nor_without_checks(self):
        assert self.warned(np.zeros(0, np.float32), 0) == self.warned(np.zeros(4, np.float32), 0) == []
        assert self.warned(np.zeros(4, np.float32), 8, check=False) == []
        assert self.warned(np.zeros(4, np.float32), 8, target="interp", mode="off") == []

    def test_of_overlapping_arrays_the_memory_counts(self):
        kernel = tileir.parse("""entry @k(%x: tile<ptr<i8>>, %y: tile<ptr<i8>>) {
          %t = make_tensor_view %y, shape = [8], strides = [1] : tensor_view<8xi8, strides=[1]>
        }""")["k"]
        both = np.zeros(16, np.int8)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            kernel.launch(1, both, both[4:8])
