"""Kernels of Triton, launched as they are on tensors of the CPU."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("triton", reason="needs triton")

import torch
import triton

import tileir
import tileir.triton
from tests.processes import ROOT, run_python
from tests.triton_kernels.launched_kernels import (
    LOAD_SHIFT,
    add,
    copy_from,
    doubled,
    fill,
    multiply_and_add,
    of_tuples,
    scalars,
)

FILE = Path(__file__).with_name("launched_kernels.py")


def line_of(text: str) -> int:
    return FILE.read_text().split("\n").index(next(line for line in FILE.read_text().split("\n") if text in line)) + 1


def run(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return run_python("-c", program, environment=environment)


def run_fresh(program: str) -> subprocess.CompletedProcess[str]:
    """Run a program in an interpreter that has imported nothing."""
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT)


def test_a_kernel_runs_on_tensors_of_the_cpu() -> None:
    x, y = torch.randn(1000), torch.randn(1000)
    out = torch.empty(1000)
    kernel = add[(8,)](x, y, out, 1000, BLOCK=128)
    assert torch.equal(out, x + y)
    assert kernel.metadata.target.backend == "cpu"


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.int64, torch.uint8])
def test_elements_are_of_any_type(dtype: torch.dtype) -> None:
    x, y = torch.arange(100).to(dtype), torch.ones(100, dtype=dtype)
    out = torch.zeros(100, dtype=dtype)
    add[(1,)](x, y, out, 100, BLOCK=128)
    assert torch.equal(out, x + y)


def test_a_grid_may_be_a_function_and_a_list_or_empty() -> None:
    x = torch.ones(100)
    doubled[lambda meta: (triton.cdiv(100, meta["BLOCK"]),)](x, 100, BLOCK=16)
    doubled[[7]](x, 100, BLOCK=16)
    doubled[(0,)](x, 100, BLOCK=16)
    assert (x == 4).all()


def test_a_pointer_reaches_the_whole_storage_of_its_tensor() -> None:
    packed = torch.arange(64.0)
    out = torch.zeros(16)
    copy_from[(1,)](packed[16:32], out, -16, BLOCK=16)
    assert torch.equal(out, packed[:16])
    copy_from[(1,)](packed[16:32], out, 32, BLOCK=16)
    assert torch.equal(out, packed[48:])
    with tileir.triton.on("interp"):
        copy_from[(1,)](packed[16:32], out, -16, BLOCK=16)
    assert torch.equal(out, packed[:16])


@pytest.mark.parametrize("target", ["cpu", "interp"])
def test_products_and_sums_are_rounded_twice_whatever_fusion_allows(target: str) -> None:
    x, y, z = torch.randn(3, 256, generator=torch.Generator().manual_seed(0))
    once = (x.double() * y.double() + z.double()).float()  # exact before it is rounded, but for rare ties
    found = []
    with tileir.triton.on(target):
        for options in ({"enable_fp_fusion": True}, {"enable_fp_fusion": False}, {"ONCE": True}):
            out = torch.zeros(256)
            multiply_and_add[(1,)](x, y, z, out, BLOCK=256, **{"ONCE": False, **options})
            found.append(out)
    assert torch.equal(found[0], x * y + z) and torch.equal(found[1], x * y + z)
    assert torch.equal(found[2], once) and not torch.equal(found[2], found[0])


def test_launches_that_are_repeated_reach_as_far_as_the_first() -> None:
    """From the second one on they need no Python, where the extension is built."""
    packed, out = torch.arange(64.0), torch.zeros(16)
    with tileir.triton.on("cpu", threads=1):
        for _ in range(2):
            for shift in (-16, 0, 32, -16):
                copy_from[(1,)](packed[16:32], out, shift, BLOCK=16)
                assert torch.equal(out, packed[16 + shift :][:16])
            for shift in (33, -17):
                with pytest.raises(tileir.Trap, match=r"of 'x_ptr'"):
                    copy_from[(1,)](packed[16:32], out, shift, BLOCK=16)
            with pytest.raises(tileir.Trap, match=r"of 'out_ptr'"):
                copy_from[(1,)](packed, out[1:], 0, BLOCK=16)


@pytest.mark.parametrize("target", ["cpu", "interp"])
@pytest.mark.parametrize(("first", "left"), [(0, 0), (3, 0), (50, 40)])
def test_a_tensor_whose_storage_was_freed_is_refused_by_name(target: str, first: int, left: int) -> None:
    x = torch.ones(100)[first:]
    x.untyped_storage().resize_(left)
    words = r"^kernel 'doubled', argument 'x_ptr': expected an array whose memory is there, got one whose storage"
    with tileir.triton.on(target), pytest.raises(ValueError, match=words):
        doubled[(1,)](x, 10, BLOCK=16)


def test_a_tensor_is_looked_at_after_the_numbers_whose_own_code_may_move_it() -> None:
    class Resizing(float):
        def __float__(self) -> float:
            x.untyped_storage().resize_(1 << 24)
            return 2.0

    x = torch.zeros(16)
    for _ in range(2):
        fill[(1,)](x, Resizing(2.0), BLOCK=16)
        assert (x == 2).all()
        x = torch.zeros(16)


@pytest.mark.parametrize("target", ["cpu", "interp"])
def test_an_access_outside_the_storage_traps_at_the_line_of_python(target: str) -> None:
    packed, out = torch.arange(64.0), torch.zeros(16)
    with tileir.triton.on(target), pytest.raises(tileir.Trap) as caught:
        copy_from[(1,)](packed[16:32], out, 40, BLOCK=16)
    shown = str(caught.value)
    line = line_of("tl.load(x_ptr + offsets + shift)")
    assert shown.startswith(f"{FILE}:{line}:{33 + LOAD_SHIFT}: trap: load of f32 at byte offset 192 of 'x_ptr'")
    assert f"\n {line} |     tl.store(out_ptr + offsets, tl.load(x_ptr + offsets + shift))\n" in shown
    assert caught.traceback.filter(caught)[-1].name == "run", "no frame is ours"


def test_a_parameter_that_requires_a_gradient_is_taken() -> None:
    x = torch.nn.Parameter(torch.ones(16))
    doubled[(1,)](x, 16, BLOCK=16)
    assert (x == 2).all()


@pytest.mark.parametrize("target", ["cpu", "interp"])
def test_a_tensor_that_torch_negates_when_it_is_read_is_refused(target: str) -> None:
    x = torch.ones(16)
    with tileir.triton.on(target):
        for _ in range(3):
            doubled[(1,)](x, 16, BLOCK=16)
            with pytest.raises(ValueError, match=r"argument 'x_ptr': expected .* \(pass x.resolve_neg\(\)\)$"):
                doubled[(1,)](torch._neg_view(x), 16, BLOCK=16)
    assert (x == 8).all()


def test_scalars_are_taken_as_c_takes_them() -> None:
    out = torch.zeros(6, dtype=torch.float64)
    scalars[(1,)](out, 7, 2.5, True, 1 << 40, 1.0009765625, None, "yes")
    assert out.tolist() == [7, 2.5, 1 << 40, 1.0009765625, 4, 5]
    scalars[(1,)](out, -1, float("inf"), False, 3, 1e9, 5, "no")
    assert out.tolist() == [-1, float("inf"), 1 << 40, float("inf"), 4, 5]


def test_tuples_are_taken_apart() -> None:
    x, out = torch.arange(16.0), torch.zeros(16)
    of_tuples[(1,)]((x, (out,)), (3, 16), BLOCK=16)
    assert torch.equal(out, 3 * x)


def test_arrays_of_other_libraries_are_taken_when_they_are_wrapped() -> None:
    x = np.arange(10, dtype=np.float32)
    doubled[(1,)](tileir.triton.HostArray(x), 10, BLOCK=16)
    assert (x == 2 * np.arange(10)).all()
    with pytest.raises(TypeError, match="expected an array in the memory of this process, got int"):
        tileir.triton.HostArray(3)
    with pytest.raises(ValueError, match="expected an array without negative strides"):
        tileir.triton.HostArray(x[::-1])


def test_an_array_that_is_only_to_be_read_is_not_written() -> None:
    x = np.zeros(16, np.float32)
    x.flags.writeable = False
    with pytest.raises(tileir.Trap, match="store of f32"):
        fill[(1,)](tileir.triton.HostArray(x), 1.0, BLOCK=16)


def test_a_tensor_read_as_another_type_is_taken() -> None:
    x = torch.tensor([1.0, -2.0])
    out = torch.zeros(2, dtype=torch.int32)
    add[(1,)](triton.reinterpret(x, torch.int32), out, out, 2, BLOCK=2)
    assert torch.equal(out, x.view(torch.int32))


def test_what_is_no_number_is_refused_by_name() -> None:
    from triton.runtime.driver import driver

    x = torch.ones(16)
    kernel = doubled[(1,)](x, 16, BLOCK=16)
    loaded = kernel.function
    with pytest.raises(TypeError, match=r"^kernel 'doubled', argument 'n': expected an integer, got str$"):
        kernel.run(1, 1, 1, 0, loaded, None, None, None, None, x, "16", 16)
    with pytest.raises(TypeError, match=r"^kernel 'doubled', argument 'x_ptr': expected a tensor, got list$"):
        kernel.run(1, 1, 1, 0, loaded, None, None, None, None, [1], 16, 16)
    assert driver.active.get_active_torch_device() == torch.device("cpu")


def test_what_a_kernel_has_become_can_be_looked_at() -> None:
    x = torch.ones(16)
    kernel = doubled[(1,)](x, 16, BLOCK=16)
    assert "tt.func public @doubled" in kernel.asm["ttir"]
    assert tileir.parse(kernel.asm["tileir"])["doubled"].name == "doubled"
    assert "define" in kernel.asm["llvm"] and ".text" in kernel.asm["asm"]
    with pytest.raises(KeyError, match="Unknown key: 'ptx'"):
        kernel.asm["ptx"]


def test_warming_up_compiles_and_launches_nothing() -> None:
    kernel = fill.warmup(torch.float32, 1.0, BLOCK=64, grid=(1,))
    assert "fill" in kernel.asm["tileir"]


def test_a_kernel_can_be_loaded_before_it_is_launched() -> None:
    told: list[str] = []

    def hook(*args: object, compile: dict[str, str], **kwargs: object) -> None:
        told.append(compile["specialization_data"])

    x = torch.zeros(32)
    with triton.knobs.runtime.scope():
        triton.knobs.runtime.jit_cache_hook = hook
        fill[(1,)](x, 2.0, BLOCK=32)
    fill.device_caches.clear()
    kernel = fill.preload(told[0])
    assert fill[(1,)](x, 3.0, BLOCK=32) is kernel
    assert (x == 3).all()


def test_hooks_are_called_around_a_launch() -> None:
    called: list[str] = []
    x = torch.zeros(32)
    with triton.knobs.runtime.scope():
        triton.knobs.runtime.launch_enter_hook.add(lambda data: called.append(data.get()["name"]))
        triton.knobs.runtime.launch_exit_hook.add(lambda data: called.append("end"))
        fill[(1,)](x, 2.0, BLOCK=32)
        triton.knobs.runtime.launch_enter_hook.calls.clear()
        triton.knobs.runtime.launch_exit_hook.calls.clear()
    assert called == ["fill", "end"]


def test_options_of_gpus_are_taken() -> None:
    x = torch.zeros(32)
    fill[(1,)](x, 2.0, BLOCK=32, num_warps=8, num_stages=2, waves_per_eu=2, matrix_instr_nonkdim=16, maxnreg=64)
    assert (x == 2).all()
    with pytest.raises(KeyError, match="nonsense"):
        fill[(1,)](x, 2.0, BLOCK=32, nonsense=8)


# ---------------------------------------------------------------- tuning


TUNED_FIRST = """
import torch, triton
from tests.triton_kernels.launched_kernels import doubled

blocks = [triton.Config({"BLOCK": size}, num_warps=warps) for size in (16, 32) for warps in (1, 4, 8)]
tuned = triton.autotune(blocks, key=["n"], restore_value=["x_ptr"])(doubled)
x = torch.ones(100)
triton.knobs.autotuning.print = True
tuned[lambda meta: (triton.cdiv(100, meta["BLOCK"]),)](x, 100)
assert (x == 2).all()
assert set(tuned.configs_timings) == {blocks[0], blocks[3]}
assert all(timing > 0 for timings in tuned.configs_timings.values() for timing in timings)
"""


def test_configurations_that_differ_in_hints_alone_are_tuned_once() -> None:
    """In a process of its own: a tuner that is the first to run chooses before Triton has a driver."""
    done = run(TUNED_FIRST)
    assert done.returncode == 0, done.stderr
    assert len(re.findall("Autotuning kernel doubled with config", done.stdout)) == 2
    assert "Triton autotuning for function doubled" in done.stdout


def test_constants_can_be_guessed() -> None:
    guessing = triton.heuristics({"BLOCK": lambda args: triton.next_power_of_2(args["n"])})(doubled)
    x = torch.ones(100)
    kernel = guessing[(1,)](x, 100)
    assert (x == 2).all() and "tile<128xf32>" in kernel.asm["tileir"]


def test_benchmarks_measure_this_processor() -> None:
    x = torch.ones(1 << 12)
    launch = lambda: doubled[(4,)](x, 1 << 12, BLOCK=1024)  # noqa: E731
    seconds = triton.testing.do_bench(launch, warmup=1, rep=5, return_mode="min")
    assert 0 < seconds < 1000
    low, high = triton.testing.do_bench(launch, warmup=1, rep=5, quantiles=[0.2, 0.8])
    assert 0 < low <= high


def test_a_script_finds_the_properties_that_it_divides_by() -> None:
    from triton.runtime.driver import driver

    of = driver.active.utils.get_device_properties(torch.device("cpu").index)
    kernel = fill.warmup(torch.float32, 1.0, BLOCK=64, grid=(1,))
    kernel._init_handles()
    assert of["max_num_regs"] // (kernel.n_regs * of["warpSize"] * 4) > 0
    assert of["max_shared_mem"] // kernel.metadata.shared > 0 and of["multiprocessor_count"] > 0


# ---------------------------------------------------------------- processes


PROGRAM = """
import sys, torch, triton
from tests.triton_kernels.launched_kernels import fill
x = torch.zeros(64)
kernel = fill[(2,)](x, 2.0, BLOCK=32)
assert (x == 2).all()
"""


def test_the_next_process_compiles_nothing(tmp_path: Path) -> None:
    cached = {"TRITON_CACHE_DIR": str(tmp_path / "triton"), "TILEIR_CACHE_DIR": str(tmp_path / "tileir")}
    assert run(PROGRAM, **cached).stderr == ""
    files = set(tmp_path.rglob("*"))
    again = PROGRAM + "print(*[name for name in sys.modules if name.startswith('tileir.triton.importer')])"
    done = run(again, **cached)
    assert (done.stderr, done.stdout) == ("", "\n")
    assert set(tmp_path.rglob("*")) == files


def test_parameters_keep_their_names_in_the_next_process(tmp_path: Path) -> None:
    cached = {"TRITON_CACHE_DIR": str(tmp_path / "triton"), "TILEIR_CACHE_DIR": str(tmp_path / "tileir")}
    show = (
        PROGRAM + "print([one.name for one in next(iter(fill.device_caches[0][0].values())).module.kernel.parameters])"
    )
    assert run(show, **cached).stdout == run(show, **cached).stdout == "['x_ptr', 'value']\n"


def test_importing_triton_imports_little_of_tileir() -> None:
    program = "import sys, triton\nprint(*sorted(name for name in sys.modules if name.startswith('tileir')))"
    done = run_fresh(program)
    light = ("", ".host", ".host.patching", ".triton", ".triton.compiler", ".triton.driver", ".triton.patches")
    assert done.stdout.split() == [f"tileir{name}" for name in light]


@pytest.mark.parametrize("active", [True, False])
def test_a_gpu_comes_first(active: bool) -> None:
    program = f"""
import triton
from triton.backends import backends
backends["nvidia"].driver.is_active = staticmethod(lambda: {active})
print(backends["cpu"].driver.is_active())
"""
    assert run(program).stdout == f"{not active}\n"
    assert run(program, TRITON_DEFAULT_BACKEND="cpu").stdout == "True\n"


def test_without_triton_the_rest_is_there() -> None:
    program = """
import sys
sys.modules["triton"] = None
import tileir.triton
try:
    tileir.triton.enable("interp")
except Exception as error:
    print(type(error).__name__, error)
"""
    assert "needs the package triton (pip install 'triton" in run_fresh(program).stdout
