"""Results of golden programs beside NumPy's, on the interpreter and on the CPU."""

from __future__ import annotations

import math
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import tileir
import tileir.triton

FOLDERS = [Path(__file__).parent / name for name in ("golden", "written")]
each_target = pytest.mark.parametrize("target", ["interp", "cpu"])
random = np.random.default_rng(29)


def launch(name: str, grid: int | tuple[int, ...], *args: object, target: str) -> None:
    """Run a golden program; the sanitizer finds nothing in the run, no missing order either, but for what is so on
    purpose: sums in any order of programs, and the use of what stands for elements outside a tensor."""
    (path,) = (folder / f"{name}.ttir" for folder in FOLDERS if (folder / f"{name}.ttir").exists())
    kernel = tileir.load(path)[name]
    if target == "interp":
        arrays = {id(arg): arg.copy() for arg in args if isinstance(arg, np.ndarray)}
        report = tileir.sanitize(kernel, grid, *(arrays.get(id(arg), arg) for arg in args))
        assert {finding.kind for finding in report.findings} <= {"padding", "order-dependent"}, str(report)
    kernel.launch(grid, *args, target=target)


def normal(*shape: int, dtype: str = "f4") -> np.ndarray:
    return random.standard_normal(shape).astype(dtype)


@each_target
def test_sums_of_vectors(target: str) -> None:
    x, y, z = normal(3000), normal(3000), np.zeros(3000, "f4")
    launch("vector_add", 3, x, y, z, 3000, target=target)
    np.testing.assert_array_equal(z, x + y)


@each_target
def test_softmax_of_rows(target: str) -> None:
    x = normal(7, 200)
    y = np.zeros_like(x)
    launch("softmax", 7, x, y, 200, 200, target=target)
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(y, powers / powers.sum(axis=1, keepdims=True), rtol=1e-5)


@each_target
def test_products_of_matrices_in_grouped_order(target: str) -> None:
    m, n, k = 70, 50, 40
    a, b, c = normal(m, k, dtype="f2"), normal(k, n, dtype="f2"), np.zeros((m, n), "f4")
    launch("matmul", 3 * 2, a, b, c, m, n, k, k, n, n, target=target)
    np.testing.assert_allclose(c, a.astype("f4") @ b.astype("f4"), rtol=1e-3, atol=1e-3)


@each_target
def test_arithmetic_of_integers(target: str) -> None:
    x = random.integers(-1000, 1000, 64).astype("i4")
    y = random.integers(1, 50, 64).astype("i4") * random.choice([-1, 1], 64).astype("i4")
    x[:3], y[:3] = [-(1 << 31), -7, 7], [3, 2, -2]
    out = np.zeros((8, 64), "i4")
    launch("integers", 1, x, y, out, target=target)
    quotient = np.trunc(x / y).astype("i4")
    with np.errstate(over="ignore"):
        unsigned = (x.view("u4") // y.view("u4")).view("i4")
        product = (x.astype("i8") * y >> 16).astype("i4")
        high = (x.view("u4").astype("u8") * y.view("u4") >> 32).astype("u4").view("i4")
        expected = [
            quotient, x - quotient * y, unsigned, x << 3 ^ y >> 2 | x & ~y,
            np.where(x < y, np.minimum(x, 7), np.maximum(y, -7)), high + np.abs(x), product,
            (x.astype("f4") * np.float32(0.5)).astype("i4") + (x > y),
        ]  # fmt: skip
    for row, exact in zip(out, expected):
        np.testing.assert_array_equal(row, exact)


@each_target
def test_arithmetic_of_floats(target: str) -> None:
    x, y = normal(64), normal(64)
    x[:4], y[:4] = [np.nan, 0.0, 5.0, 600.0], [1.0, np.nan, -0.25, 1.0]
    out = np.zeros((8, 64), "f4")
    launch("floats", 1, x, y, out, target=target)
    toward_zero = np.abs(x).astype("f2")
    toward_zero = np.where(toward_zero.astype("f4") > np.abs(x), np.nextafter(toward_zero, np.float16(0)), toward_zero)
    eight = np.clip(x, -448, 448).astype(ml_dtypes.float8_e4m3fn), y.astype(ml_dtypes.float8_e5m2)
    with np.errstate(invalid="ignore"):
        fused = (x.astype("f8") * y + 1).astype("f4")
        expected = [
            x / y + x / y + np.sqrt(np.abs(x)), np.maximum(x, y), np.fmin(x, y), np.clip(x, -0.5, 0.5),
            fused + np.floor(x) - np.ceil(y), eight[0].astype("f4") + eight[1].astype("f4"),
            np.copysign(toward_zero, x).astype("f4"),
            np.where((x != x) | (x <= y), x.astype(ml_dtypes.bfloat16).astype("f4"), np.fmod(x, y)),
        ]  # fmt: skip
    for row, exact in zip(out, expected):
        np.testing.assert_array_equal(row, exact)


@each_target
def test_functions(target: str) -> None:
    x = np.abs(normal(64)) + np.float32(0.1)
    out = np.zeros((8, 64), "f4")
    launch("functions", 1, x, out, target=target)
    erf = np.array([math.erf(value) for value in x])
    expected = [
        np.exp(x) + np.exp2(x), np.log(x) + np.log2(x), np.sin(x) + np.cos(x), np.sqrt(x) + 1 / np.sqrt(x), erf,
        np.tanh(x) + np.log1p(x), 1 / (1 + np.exp(-x)),
    ]  # fmt: skip
    for row, exact in zip(out, expected):
        np.testing.assert_allclose(row, exact, rtol=2e-6, atol=1e-6)


@each_target
def test_reductions_and_scans(target: str) -> None:
    m, n = 8, 32
    x, y = normal(m, n), normal(m, n)
    x[1, 4] = x[1, 9] = 9.0
    out, places = np.zeros(3 * m + 2 * m * n, "f4"), np.zeros(3 * m, "i4")
    launch("reductions", 1, x, y, out, places, target=target)
    scan = np.zeros_like(x)
    scale, shift = np.ones(m), np.zeros(m)
    for column in range(n):
        scale, shift = scale * x[:, column], shift * x[:, column] + y[:, column]
        scan[:, column] = scale + shift
    sums, products, best = out[: 3 * m].reshape(3, m)
    np.testing.assert_allclose(sums, x.sum(axis=1), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(products, x.prod(axis=1), rtol=1e-5)
    np.testing.assert_array_equal(best, x.max(axis=1))
    np.testing.assert_array_equal(places.reshape(3, m)[0], x.argmax(axis=1))
    np.testing.assert_array_equal(places.reshape(3, m)[1], x.argmin(axis=1))
    np.testing.assert_array_equal(places.reshape(3, m)[2], (x > y).sum(axis=1) % 2)
    scanned, backwards = out[3 * m :].reshape(2, m, n)
    np.testing.assert_allclose(scanned, scan, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(backwards, x[:, ::-1].cumsum(axis=1)[:, ::-1], rtol=1e-4, atol=1e-4)


@each_target
def test_sort_gather_and_histogram(target: str) -> None:
    x, out = random.integers(-100, 100, 64).astype("i4"), np.zeros(2 * 64 + 16, "i4")
    launch("positions", 1, x, out, target=target)
    np.testing.assert_array_equal(out[:64], np.sort(x))
    np.testing.assert_array_equal(out[64:128], x[::-1])
    np.testing.assert_array_equal(out[128:], np.bincount(x[:60] & 31, minlength=32)[:16])


@each_target
def test_changes_of_shape(target: str) -> None:
    m, n = 4, 8
    x, out = normal(m, n), np.zeros((5, m * n), "f4")
    launch("shapes", 1, x, out, target=target)
    np.testing.assert_array_equal(out[0], x.T.ravel())
    np.testing.assert_array_equal(out[1], x.reshape(-1, 2)[:, ::-1].ravel())
    np.testing.assert_array_equal(np.sort(out[2:4].ravel()), np.sort(np.concatenate([x, x * 2], axis=None)))
    np.testing.assert_array_equal(out[4].reshape(m, n), np.broadcast_to(np.arange(n), (m, n)))


@each_target
def test_an_early_return_leaves_the_program(target: str) -> None:
    out = np.zeros((6, 16), "f4")
    launch("early_return", 6, out, 4 * 16, 5, target=target)
    np.testing.assert_array_equal(out[:, 0], [1, 1, 2, -2, -2, 0])


@each_target
def test_loops_and_branches_keep_the_order_of_memory(target: str) -> None:
    n, x = 8, np.abs(normal(8, 16))
    out = x.copy()
    launch("loops", 1, out, out, n, target=target)  # the same memory through two parameters
    expected, total = x.copy(), np.zeros(16, "f4")
    for step in range(0, n, 2):
        value = expected[step].copy()
        total = total + value if step % 4 == 0 else total - value
        if step % 4:
            expected[1] = total
    for _ in range(20):
        if total.sum() >= 1000:
            break
        total = total * 2 + expected[1]
    np.testing.assert_allclose(out[0], total, rtol=1e-5)


@each_target
def test_a_function_that_is_not_inlined_returns_early(target: str) -> None:
    for n, expected in ((1, 5.0), (3, 2.0)):
        x = np.array([4.0], "f4")
        launch("calls", 1, x, n, target=target)
        assert x[0] == expected


@each_target
def test_atomic_operations_of_many_programs(target: str) -> None:
    programs = 5
    counts, sums, out = np.zeros(8, "i4"), np.array([0, 0, 0, 0, -9, 9], "f4"), np.zeros(programs, "i4")
    x = normal(programs, 64)
    launch("atomics", programs, counts, sums, x, out, target=target)
    np.testing.assert_array_equal(counts, [15 * programs] * 4 + [31, 0, 10, 0])
    np.testing.assert_allclose(sums[:4], x.reshape(-1, 4).sum(axis=0), rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(sums[4:], [x.max(), x.min()])


@each_target
def test_blocks_of_descriptors(target: str) -> None:
    m, n, rows, columns = 20, 40, 8, 16
    given, x = normal(m, n), np.zeros((m, n), "f4")
    launch("descriptors", (3, 3), given, m, n, n, 1, x, m, n, target=target)
    wide = np.zeros((m + 16, n + 48), "f4")
    wide[8 : 8 + m, 24 : 24 + n] = given
    expected = given * 2
    for row in range(0, m, rows):
        for column in range(0, n, columns):
            starts = [(row, step) for step in range(0, n, columns)] + [(row, 3), (row - 5, column - 5)]
            total = sum(wide[8 + i : 8 + i + rows, 24 + j : 24 + j + columns] for i, j in starts)
            block = expected[row : row + rows, column : column + columns]
            block += total[: block.shape[0], : block.shape[1]]
    np.testing.assert_allclose(x, expected, rtol=1e-5, atol=1e-5)


def outer_tiles(program: tileir.Module) -> list[str]:
    """Return what the sanitizer says of the index space in a launch of more programs than the rows of `descriptors`."""
    arrays = normal(20, 40), np.zeros((20, 40), "f4")
    report = tileir.sanitize(program["descriptors"], (6, 3), arrays[0], 20, 40, 40, 1, arrays[1], 20, 40)
    return [finding.message for finding in report.findings if "index space" in finding.message]


def test_blocks_of_a_descriptor_wholly_outside_its_tensor_are_no_fault_in_a_program_of_triton() -> None:
    path = FOLDERS[0] / "descriptors.ttir"
    program, text = tileir.load(path), path.with_suffix(".mlir").read_text()
    assert not outer_tiles(program)
    assert outer_tiles(tileir.parse(text.replace("triton", "another")))
    for target in ("interp", "cpu"):
        x, y = normal(20, 40), np.zeros((20, 40), "f4")
        program["descriptors"].launch((6, 3), x, 20, 40, 40, 1, y, 20, 40, target=target, check="strict")


@each_target
def test_rows_of_descriptors_by_their_numbers(target: str) -> None:
    m, n = 24, 20
    index = random.permutation(np.arange(-2, 26)).astype("i4")[:16]
    x = normal(m, n)
    expected = x.copy()
    expected[[row for row in index if 0 <= row < m]] += 1
    launch("descriptor_rows", 1, x, index, m, n, target=target)
    np.testing.assert_array_equal(x, expected)


@each_target
def test_products_in_every_precision(target: str) -> None:
    m, n, k = 16, 16, 32
    a, b, c = normal(m, k), normal(k, n), np.zeros((6, m, n), "f4")
    launch("precisions", 1, a, b, c, target=target)
    exact = a.astype("f8") @ b
    for found, error in zip(c, (2e-2, 1e-5, 1e-5, 1e-5)):
        assert np.abs(found - exact).max() <= error
    np.testing.assert_array_equal(c[4], a.astype("i1").astype("i4") @ b.astype("i1").astype("i4"))
    eight = a.astype(ml_dtypes.float8_e4m3fn).astype("f4"), b.astype(ml_dtypes.float8_e5m2).astype("f4")
    np.testing.assert_allclose(c[5], eight[0] @ eight[1], rtol=1e-4, atol=1e-4)


@each_target
def test_products_with_scales(target: str) -> None:
    m, n, k = 32, 32, 64
    a, b = random.integers(0, 256, (m, k), "u1"), random.integers(0, 256, (k // 2, n), "u1")
    scales = random.integers(120, 134, (2, 32, k // 32), "u1")
    c = np.zeros((4, m, n), "f4")
    launch("scaled", 1, a.view("i1"), scales[0].view("i1"), b.view("i1"), scales[1].view("i1"), c, target=target)
    left = pairs(a.reshape(-1)[: m * k // 2].reshape(m, k // 2))
    powers = np.exp2(scales.astype("f8") - 127).repeat(32, axis=2)
    right = pairs(b.T).T * powers[1].T
    whole = (a & 0x77).view(ml_dtypes.float8_e4m3fn).astype("f4")
    for found, factor in zip(c, (left * powers[0], whole * powers[0], a & 0x77, a & 0x77)):
        assert (np.abs(found - factor @ right) <= 1e-6 * (np.abs(factor) @ np.abs(right))).all()


def pairs(packed: np.ndarray) -> np.ndarray:
    """The numbers of four bits in each byte, the low ones first."""
    nibbles = np.stack([packed & 15, packed >> 4], axis=-1).reshape(len(packed), -1)
    values = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], "f4")
    return np.where(nibbles & 8, -values[nibbles & 7], values[nibbles & 7])


@each_target
def test_a_function_for_each_element(target: str) -> None:
    x, y = np.arange(1, 17, dtype="i4"), random.integers(-20, 20, 16).astype("i4")
    out = np.zeros((3, 16), "i4")
    launch("elements", 1, x, y, out, target=target)
    np.testing.assert_array_equal(out[0], [collatz(int(value)) for value in x])
    np.testing.assert_array_equal(out[1], np.maximum(x, y))
    twisted = np.stack([x[::2] + y[1::2], x[1::2] - y[::2]], axis=1).ravel()
    np.testing.assert_array_equal(out[2], twisted)


def collatz(n: int) -> int:
    steps = 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@each_target
def test_random_numbers_are_those_of_philox(target: str) -> None:
    out = np.zeros((2, 64), "f4")
    launch("random_numbers", 1, out, 1234, target=target)
    np.testing.assert_array_equal(out[0], [uniform(1234, place) for place in range(64)])
    assert abs(out[1].mean()) < 0.5 and 0.7 < out[1].std() < 1.3


def uniform(seed: int, offset: int) -> np.float32:
    """Philox 4x32 with ten rounds, as Salmon et al. describe it (SC 2011), and its first word as a float in [0, 1)."""
    counter, key = [offset, 0, 0, 0], [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        first, second = counter[0] * 0xD2511F53, counter[2] * 0xCD9E8D57
        counter = [second >> 32 ^ counter[1] ^ key[0], second & 0xFFFFFFFF,
                   first >> 32 ^ counter[3] ^ key[1], first & 0xFFFFFFFF]  # fmt: skip
        key = [key[0] + 0x9E3779B9 & 0xFFFFFFFF, key[1] + 0xBB67AE85 & 0xFFFFFFFF]
    word = int(np.array(counter[0], "u4").view("i4"))
    return np.float32(-word - 1 if word < 0 else word) * np.float32(4.6566127342e-10)


@each_target
def test_what_is_printed_names_the_program(target: str, capfd: pytest.CaptureFixture[str]) -> None:
    launch("printed", 1, np.arange(4, dtype="f4"), 12, target=target)
    printed = capfd.readouterr().out
    assert "pid (0, 0, 0) value: [0.000000, 1.000000, 2.000000, 3.000000]\n" in printed
    assert "pid (0, 0, 0) n: 0x0000000c\n" in printed


@each_target
def test_block_pointers_of_earlier_versions(target: str) -> None:
    m, n = 12, 20
    x, y = normal(m, n), np.zeros((m, n), "f4")
    launch("block_pointers", 2, x, y, m, n, target=target)
    wide = np.zeros((16, 24), "f4")
    wide[:m, :n] = x
    expected = x.copy()
    for row in (0, 8):
        total = sum(wide[row : row + 8, at : at + 8] @ wide[row : row + 8, at : at + 8] for at in (0, 8, 16))
        expected[row : row + 8, :8] += total[: min(8, m - row)]
    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-5)


PARTLY_CHECKED = """
tt.func public @k(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {{
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i64
  %three = arith.constant 3 : i64
  %eight = arith.constant 8 : i64
  %from = tt.make_tensor_ptr %x, [%three, %three], [%eight, %one], [%zero, %zero] {{order = array<i32: 1, 0>}} : <tensor<4x8xf32>>
  %to = tt.make_tensor_ptr %y, [%three, %three], [%eight, %one], [%zero, %zero] {{order = array<i32: 1, 0>}} : <tensor<4x8xf32>>
  %block = tt.load %from {{boundaryCheck = array<i32{dims}>, padding = 2 : i32}} : !tt.ptr<tensor<4x8xf32>>
  tt.store %to, %block : !tt.ptr<tensor<4x8xf32>>
  tt.return
}}
"""  # noqa: E501


@each_target
@pytest.mark.parametrize("dims", [(), (0,), (1,), (0, 1)])
def test_a_block_pointer_has_bounds_only_where_they_are_checked(target: str, dims: tuple[int, ...]) -> None:
    named = ": " + ", ".join(map(str, dims)) if dims else ""
    kernel = tileir.triton.from_ttir(PARTLY_CHECKED.format(dims=named))["k"]
    x, y = normal(4, 8), np.zeros((4, 8), "f4")
    kernel.launch(1, x, y, target=target)
    expected = x.copy()
    if 0 in dims:
        expected[3:] = np.nan
    if 1 in dims:
        expected[:, 3:] = np.nan
    np.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize(("text", "bits"), [("3.40282347E+38", 0x7F7FFFFF), ("-3.40282347E+38", 0xFF7FFFFF)])
def test_the_largest_number_is_no_infinity_as_triton_writes_it(text: str, bits: int) -> None:
    source = f"""tt.func public @k(%p: !tt.ptr<f32>) {{
  %c = arith.constant {text} : f32
  tt.store %p, %c : !tt.ptr<f32>
  tt.return
}}"""
    out = np.zeros(1, "f4")
    tileir.triton.from_ttir(source)["k"].launch(1, out)
    assert out.view("u4") == bits
