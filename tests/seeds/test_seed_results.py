"""The listings of the early documents run, and give the values of spec: listings#verdicts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import tileir
from tests.observe import observe
from tests.seeds.listings import appendix, mutex_program, needed
from tileir.ir import types as t
from tileir.ir.storage import DTYPES

pytestmark = needed

F = 1e-6

VALUES: dict[str, list[tuple[str, object]]] = {
    "12.3.1": [
        ("cat", np.repeat([[0.0, 1.0]], 2, 0).repeat(4, 1)),
        ("cat", np.repeat([0.0, 1.0], 2)[:, None].repeat(4, 1)),
    ],
    "12.3.2": [("cmpf", True), ("cmpf", np.zeros((2, 2)))],
    "12.3.3": [("cmpi", False), ("cmpi", np.ones((2, 2)))],
    "12.3.5": [("extract", np.zeros((4, 2)))],
    "12.3.7": [("get_num_tile_blocks", 1)] * 3,
    "12.3.9": [("mmaf", np.zeros((4, 2))), ("mmaf", np.zeros((2, 4, 2)))],
    "12.3.10": [("mmai", np.zeros((4, 2))), ("mmai", np.zeros((2, 4, 2)))],
    "12.3.11": [("pack", np.zeros(128))],
    "12.3.12": [("pack", np.zeros(32))],
    "12.3.13": [("permute", np.zeros((8, 2, 4)))],
    "12.3.17": [
        ("reshape", np.arange(8).reshape(2, 2, 2)),
        ("reshape", np.arange(8)),
        ("reshape", np.arange(8).reshape(2, 2, 2)),
    ],
    "12.3.18": [("scan", np.zeros((8, 16)))],
    "12.3.19": [("unpack", np.zeros(32))],
    "12.3.23": [("for", 1.0)],
    "12.3.24": [("for", 1.0)],
    "12.3.25": [("if", 1.0), ("if", 2)],
    "12.3.32": [("if", 0.0), ("if", 1.0)],
    "12.3.34": [("atan2", [np.pi / 4, -np.pi / 4, 0, np.pi / 2])],
    "12.3.35": [("ceil", 1.0)],
    "12.3.36": [("cos", np.cos([0.0, 1.0, 2.0, 3.0]))],
    "12.3.37": [("exp2", [1.0, 2.0, 4.0, 8.0])],
    "12.3.38": [("exp", np.exp([0.0, 1.0, 2.0, 3.0]))],
    "12.3.39": [("floor", 1.0)],
    "12.3.40": [("log2", [-np.inf, 0.0, 1.0, np.log2(3.0)])],
    "12.3.43": [("negf", [-0.0] * 4)],
    "12.3.44": [("pow", [0.0] * 4)],
    "12.3.45": [("rsqrt", [np.inf, 1.0, 2**-0.5, 3**-0.5])] * 2,
    "12.3.46": [("sin", np.sin([0.0, 1.0, 2.0, 3.0]))],
    "12.3.47": [("tanh", np.tanh([0.0, 1.0, 2.0, 3.0]))] * 2,
    "12.3.50": [("mulhii", 1), ("muli", 0)],
    "12.3.51": [("negi", [0, -1, -2, -3])],
    "12.3.52": [("xori", [4, 4, 4, 4])],
    "12.3.55": [("get_index_space_shape", 1)] * 3,
    "12.3.56": [("get_tensor_shape", 32)] * 2,
    "12.3.72": [("experimental$call", 2.0)],
    "12.3.76": [("experimental$generate", np.add.outer(np.arange(16), np.arange(16)))],
    "12.3.78": [("internal$optimization_barrier", [1]), ("internal$optimization_barrier", np.arange(16))],
}
"""Listing -> values of the operations named, in program order."""

ENDLESS = ("12.3.22", "12.3.26", "12.3.27", "12.3.28", "12.3.29")


def _launch(
    number: str, *arrays: np.ndarray, scalar: int = 0, target: str = "interp", **options: object
) -> tuple[list[tuple[str, np.ndarray]], str]:
    """Run the listing's kernel in one tile block: the values it computes, and what it prints."""
    module = tileir.parse(appendix()[number], number)
    (kernel,) = module.kernels.values()
    types = [argument.type for argument in kernel.entry.body.args]
    observed = observe(kernel.entry)
    given = iter(arrays)
    args = [_argument(ty, given, scalar) for ty in types]
    printed: list[str] = []
    args += [value.array for value in observed]
    tileir.launch(module, kernel.name, (1,), args, target=target, output=printed.append, **options)
    return [(value.op.spec.name, value.array) for value in observed], "".join(printed)


def _argument(type: t.Type, given: Iterator[np.ndarray], scalar: int) -> object:
    assert isinstance(type, t.TileType)
    if not isinstance(type.element, t.PointerType):
        return scalar
    return next(given, np.arange(8192).astype(DTYPES[type.element.pointee]))


@pytest.mark.parametrize("target", ["interp", "cpu"])
@pytest.mark.parametrize("number", VALUES)
def test_listing_computes_the_values_of_the_specification(number: str, target: str) -> None:
    values, _ = _launch(number, target=target)
    names = {name for name, _ in VALUES[number]}
    found = [(name, array) for name, array in values if name in names]
    assert [name for name, _ in found] == [name for name, _ in VALUES[number]]
    for (_, array), (_, expected) in zip(found, VALUES[number]):
        np.testing.assert_allclose(array.astype(np.float64), np.asarray(expected, np.float64), rtol=F, atol=F)
        assert array.shape == np.shape(expected)


@pytest.mark.parametrize("number", ENDLESS)
def test_endless_loop_ends_as_a_hang(number: str) -> None:
    with pytest.raises(tileir.Trap, match="hang"):
        _launch(number, max_iterations=100)


def test_vector_addition() -> None:
    a, b, c = np.random.default_rng(0).standard_normal((3, 128), np.float32)
    _launch("12.2.2", a, b, c)
    np.testing.assert_array_equal(c, a + b)


def test_hello_prints_its_line_and_its_place() -> None:
    assert _launch("12.2.1")[1] == "Hello World!\n"
    assert _launch("12.2.3")[1] == "Hello, I am tile <0, 0, 0> in a kernel with <1, 1, 1> tiles.\n"


def test_single_block_gemm() -> None:
    a, b, c = np.random.default_rng(1).standard_normal((3, 64, 64), np.float32)
    _launch("12.2.4", a, b, c)
    np.testing.assert_allclose(c, a.astype(np.float64) @ b, rtol=1e-5, atol=1e-5)


def test_blocked_gemm_as_printed_is_valid_but_its_loop_step_of_zero_traps() -> None:
    arrays = [np.zeros(1 << 24, np.float32) for _ in range(3)]
    with pytest.raises(tileir.Trap, match="step"):
        _launch("12.2.5", *arrays)


def test_saxpy_with_views() -> None:
    size = 300
    x, y = np.random.default_rng(2).standard_normal((2, size, size), np.float32)
    expected = np.float32(2.5) * x + y
    module = tileir.parse(appendix()["12.2.6"])
    (kernel,) = module.kernels.values()
    kernel.launch((-(-size // 128), -(-size // 256)), x, y, 2.5, size, size)
    np.testing.assert_array_equal(y, expected)


def test_dynamic_gemm_with_views() -> None:
    m, n, k = 256, 384, 192
    rng = np.random.default_rng(3)
    a, b = rng.standard_normal((k, m)).astype(np.float16), rng.standard_normal((n, k)).astype(np.float16)
    c = np.zeros((m, n), np.float32)
    module = tileir.parse(appendix()["12.2.7"])
    (kernel,) = module.kernels.values()
    kernel.launch((m // 128, n // 128), a, b, c, m, n, k, m, k, n)
    exact = a.astype(np.float64).T @ b.astype(np.float64).T
    assert np.abs(c - exact).max() <= 1e-5 * np.abs(exact).max()


@pytest.mark.parametrize(("number", "combine"), [("12.3.48", np.maximum), ("12.3.49", np.minimum)])
def test_integers_compare_by_both_readings(number: str, combine: np.ufunc) -> None:
    a = np.array([-1, 2, -3, 4, 0, 6, -7, 8] * 16, np.int32)
    b = np.array([1, -2, 3, -4, 5, -6, 7, 0] * 16, np.int32)
    values, _ = _launch(number, a, b)
    x, y = (array for name, array in values if name == "load_view_tko")
    unsigned, signed = (array for name, array in values if name in ("maxi", "mini"))
    np.testing.assert_array_equal(unsigned.view(np.uint32), combine(x.view(np.uint32), y.view(np.uint32)))
    np.testing.assert_array_equal(signed, combine(x, y))


def test_atomic_compare_and_swap_in_program_order() -> None:
    memory = np.arange(8, dtype=np.int32)
    values, _ = _launch("12.3.53", memory)
    results = [array for name, array in values if name == "atomic_cas_tko"]
    np.testing.assert_array_equal(results[0], range(8))
    np.testing.assert_array_equal(results[1], [0, 6, 2, 4, 4, 2, 6, 0])
    np.testing.assert_array_equal(results[2], range(7, -1, -1))
    np.testing.assert_array_equal(memory, range(7, -1, -1))


def test_atomic_read_modify_write_in_program_order() -> None:
    memory = np.arange(8, dtype=np.float32) + 1
    before = memory.copy()
    values, _ = _launch("12.3.54", memory)
    old, later = (array for name, array in values if name == "atomic_rmw_tko")
    np.testing.assert_array_equal(old, before)
    np.testing.assert_array_equal(memory - later, later - old)


def test_loads_through_pointer_and_view() -> None:
    values, _ = _launch("12.3.33", np.array([7.0], np.float32))
    assert [float(array) for name, array in values if name == "load_ptr_tko"] == [7.0, 7.0]
    tensor = np.arange(8192 * 128, dtype=np.float32).reshape(8192, 128)
    values, _ = _launch("12.3.57", tensor, scalar=1)
    tiles = [array for name, array in values if name == "load_view_tko"]
    for tile, (row, column) in zip(tiles, [(0, 0), (0, 64), (0, 64), (64, 64)]):
        np.testing.assert_array_equal(tile, tensor[row : row + 64, column : column + 64])


def test_store_through_a_view_and_scatter() -> None:
    tensor = np.ones((8192, 128), np.float32)
    _launch("12.3.60", tensor)
    assert not tensor[:64].any()
    assert tensor[64:].all()
    tensor = np.ones((64, 128), np.float32)
    _launch("12.3.77", tensor)
    expected = np.ones_like(tensor)
    expected[[10, 11, 12, 13, 17, 18, 19, 20], 24:56] = 0
    np.testing.assert_array_equal(tensor, expected)


def test_failed_assert_traps_and_prints_follow_c() -> None:
    with pytest.raises(tileir.Trap, match="assertion failed"):
        _launch("12.3.21")
    _, printed = _launch("12.3.69")
    assert printed == (
        "Hello world: [0.000000, 0.000000, 0.000000, 0.000000]\n[+000.000, +000.000, +000.000, +000.000]"
    )


def test_extern_function_that_is_not_registered_is_named() -> None:
    with pytest.raises(tileir.UnsupportedError, match="'symbol'"):
        _launch("12.3.74")


@pytest.mark.parametrize("target", ["interp", "cpu"])
def test_cross_block_mutex_ends_and_hands_the_lock_back(target: str) -> None:
    module = tileir.parse(mutex_program())
    (kernel,) = module.kernels.values()
    printed: list[str] = []
    kernel.launch((40,), output=printed.append, target=target)
    assert sorted(printed) == sorted(f"current tile: {block} / 40\n" for block in range(40))
