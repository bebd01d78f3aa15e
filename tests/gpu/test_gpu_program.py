"""The open route from a kernel to a cubin: caching, the facts that code depends on, and the data of a launch."""

from __future__ import annotations

import pytest
from ttir_gemm import Gemm

import tileir
from tileir.cache import Cache
from tileir.gpu import program
from tileir.gpu.arch import arch_named
from tileir.gpu.compiler import Artifacts, CompileOptions, RegisterError, RequestedOptions
from tileir.gpu.descriptors import CopyLayout, DescriptorParameter
from tileir.gpu.executable import BlockMemory, ConstantMemory, Executable, GlobalMemory, Mailbox, Scratch
from tileir.gpu.expressions import ExpressionStep as Step
from tileir.gpu.object_files import cubin_kernels
from tileir.gpu.program import ALIGNED, UNKNOWN, aligned_facts, executable, has_facts
from tileir.ops.control import Assert
from tileir.runtime.gpu_routes import source_of

SM_80, SM_90, SM_100 = (arch_named(name) for name in ("sm_80", "sm_90", "sm_100"))
INTEGERS, POINTERS = ["i1", "i4", "i8", "i16", "i32", "i64"], ["ptr<f32>", "ptr<i1>"]
ELEMENTS = [*INTEGERS, "f16", "bf16", "f32", "tf32", "f64", "f8E4M3FN", "f8E5M2", "f8E8M0FNU", *POINTERS]

COPY = """entry @k(%from: tile<ptr<f32>>, %to: tile<ptr<f32>>, %n: tile<i32>) {
  %x, %t = load_ptr_tko weak %from : tile<ptr<f32>> -> tile<f32>, token
  %u = store_ptr_tko weak %to, %x token = %t : tile<ptr<f32>>, tile<f32> -> token
  return
}"""
ASSERTING = """entry @k(%n: tile<i32>) {
  %zero = constant <i32: 0> : tile<i32>
  %fine = cmpi less_than %zero, %n, signed : tile<i32> -> tile<i1>
  assert %fine, "positive" : tile<i1>
  return
}"""


def source(text, name="k"):
    return source_of(tileir.parse(text)[name])


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path)


@pytest.fixture
def compilations(monkeypatch):
    """A compiler that makes the same cubin of everything; gives what it was asked for."""
    asked = []

    def compile_ttir(text, arch, options, stages):
        asked.append((text, arch, options, tuple(stages)))
        facts = dict.fromkeys(("shared", "global_scratch_size", "profile_scratch_size", "tensordesc_meta"), 0)
        return Artifacts({}, b"cubin", facts | {"name": "k", "num_warps": 4, "num_ctas": 1, "global_scratch_align": 1})

    monkeypatch.setattr(program, "compile_ttir", compile_ttir)
    monkeypatch.setattr(Executable, "require_parameters", lambda made, given: None)
    return asked


TENSOR = DescriptorParameter(
    "!tt.tensordesc<64x32xf16>",
    2,
    (Step("parameter", 0), Step("constant", 32), Step("arith.addi", 64, (0, 1))),
    ((Step("parameter", 1),), (Step("constant", 96),)),
    ((Step("parameter", 2),),),
    pads_with_nan=True,
)


class TestCache:
    def test_what_has_been_compiled_is_found_again(self, cache, compilations, monkeypatch):
        facts = [ALIGNED, ALIGNED, UNKNOWN]
        made = executable(source(COPY), SM_90, facts, cache)
        monkeypatch.setattr(program, "lower_entry", None)
        assert executable(source(COPY), SM_90, facts, cache) == made
        assert len(compilations) == 1

    def test_names_and_layout_do_not_matter(self, cache, compilations):
        executable(source(COPY), SM_90, [], cache)
        executable(source(COPY.replace("%x", "%value").replace("\n", "\n\n")), SM_90, [], cache)
        assert len(compilations) == 1

    def test_program_architecture_facts_and_options_do(self, cache, compilations, monkeypatch):
        executable(source(COPY), SM_90, [UNKNOWN], cache)
        executable(source(COPY.replace("weak %from", "relaxed device %from")), SM_90, [UNKNOWN], cache)
        executable(source(COPY), SM_80, [UNKNOWN], cache)
        executable(source(COPY), SM_90, [ALIGNED], cache)
        monkeypatch.setattr(program, "options_for", lambda entry, arch, requested: CompileOptions(num_warps=8))
        executable(source(COPY), SM_90, [UNKNOWN], cache)
        assert len(compilations) == 5

    def test_a_damaged_entry_is_compiled_again(self, cache, compilations):
        executable(source(COPY), SM_90, [], cache)
        (path,) = cache.directory.iterdir()
        path.write_bytes(path.read_bytes()[:-1] + b"x")
        executable(source(COPY), SM_90, [], cache)
        assert len(compilations) == 2

    def test_everything_that_a_launch_needs_is_kept(self):
        made = Executable(
            b"\x7fELF",
            "kernel",
            threads=256,
            cluster=2,
            shared=99,
            hidden=(Mailbox(), BlockMemory(64), GlobalMemory("g"), ConstantMemory(b"\0\xff"), TENSOR),
            layouts=(CopyLayout(6, (64, 32), 3),),
            scratch=Scratch(128, 64),
            sites=(3, 7),
            narrow=((Step("parameter", 1), Step("constant", 4), Step("arith.muli", 32, (0, 1))),),
        )
        assert Executable.from_parts(made.to_parts()) == made
        assert Executable.from_parts(Executable(b"x", "k").to_parts()) == Executable(b"x", "k")

    def test_the_operations_with_a_part_for_the_host_are_found_again(self, cache, compilations):
        executable(source(ASSERTING), SM_90, [], cache)
        again = source(ASSERTING)
        (number,) = executable(again, SM_90, [], cache).sites
        assert len(compilations) == 1
        assert isinstance(again.operations()[number], Assert)


class TestFacts:
    def test_addresses_and_counts_are_watched(self):
        kernel = tileir.parse(
            f"entry @k({', '.join(f'%p{i}: tile<{ty}>' for i, ty in enumerate(ELEMENTS))}) {{ return }}"
        )
        types = [argument.type for argument in kernel["k"].entry.body.args]
        assert [repr(ty) for ty in types if has_facts(ty)] == [
            f"tile<{ty}>" for ty in ("i32", "i64", "ptr<f32>", "ptr<i1>")
        ]
        assert aligned_facts(kernel["k"].entry).count(ALIGNED) == 4

    def test_facts_reach_the_compiler(self, compilations):
        program.compiled(source(COPY), SM_90, [ALIGNED, UNKNOWN, ALIGNED], ["cubin"])
        assert compilations[0][0].count("tt.divisibility = 16") == 2


class TestMemoryOfABlock:
    @pytest.fixture
    def asked(self, monkeypatch):
        """The stages that a compiler was asked for whose code needs the more memory, the longer its pipelines are."""
        asked = []

        def compile_ttir(text, arch, options, wanted):
            asked.append(options.num_stages)
            return Artifacts({}, b"", {name: size * options.num_stages for name, size in self.sizes.items()})

        monkeypatch.setattr(program, "compile_ttir", compile_ttir)
        monkeypatch.setattr(program, "options_for", lambda entry, arch, requested: CompileOptions(num_stages=4))
        return asked

    @pytest.mark.parametrize(
        ("sizes", "arch", "stages"),
        [
            ({"shared": 50_000}, "sm_90", 4),
            ({"shared": 80_000}, "sm_90", 2),
            ({"shared": 80_000}, "sm_120", 1),
            ({"shared": 0, "tmem_size": 256}, "sm_100", 2),
            ({"shared": 0, "tmem_size": 0}, "sm_80", 4),
        ],
    )
    def test_a_kernel_that_wants_too_much_is_compiled_with_shorter_pipelines(self, asked, sizes, arch, stages):
        self.sizes = sizes
        assert program.compiled(source(COPY), arch_named(arch), [], ["cubin"]).options.num_stages == stages
        assert asked == list(range(4, stages - 1, -1))

    @pytest.mark.parametrize(
        ("sizes", "message"),
        [
            ({"shared": 240_000}, "needs 240000 bytes of shared memory in a block, sm_90 has 232448"),
            ({"shared": 1, "tmem_size": 1024}, "needs 1024 columns of tensor memory in a block, sm_90 has 512"),
        ],
    )
    def test_what_does_not_fit_at_all_is_refused(self, asked, sizes, message):
        self.sizes = sizes
        with pytest.raises(tileir.UnsupportedError, match=message):
            program.compiled(source(COPY), SM_90, [], ["cubin"])


def test_warps_are_fewer_where_one_stage_needs_too_much_memory(monkeypatch):
    def compile_ttir(text, arch, options, wanted):
        return Artifacts({}, b"", {"shared": 30_000 * options.num_warps * options.num_stages})

    monkeypatch.setattr(program, "compile_ttir", compile_ttir)
    monkeypatch.setattr(program, "options_for", lambda entry, arch, requested: CompileOptions(16, 3))
    made = program.compiled(source(COPY), SM_90, [], ["cubin"])
    assert (made.options.num_warps, made.options.num_stages, len(made.rejected)) == (4, 1, 4)
    with pytest.raises(tileir.UnsupportedError, match="1440000 bytes of shared memory"):
        program.compiled(source(COPY), SM_90, [], ["cubin"], RequestedOptions(16, 3))


class TestRequestedOptions:
    def test_they_go_before_what_the_kernel_suggests_and_have_code_of_their_own(self, cache, compilations):
        for requested in (RequestedOptions(), RequestedOptions(8), RequestedOptions(8, 5), RequestedOptions(8)):
            executable(source(COPY), SM_90, [], cache, requested)
        usual = program.options_for(source(COPY).entry, SM_90)
        tried = [(asked.num_warps, asked.num_stages) for _, _, asked, _ in compilations]
        assert tried == [(usual.num_warps, usual.num_stages), (8, usual.num_stages), (8, 5)]


class TestRegistersOfABlock:
    @pytest.fixture(autouse=True)
    def tried(self, monkeypatch):
        """The options that a compiler was asked for whose code has room in 4 warps without a limit."""
        tried = []

        def compile_ttir(text, arch, options, wanted):
            tried.append((options.num_warps, options.num_stages, options.maxnreg))
            if options.num_warps > 4 or options.maxnreg is not None:
                raise RegisterError("too few registers", arch.name)
            return Artifacts({}, b"", {})

        monkeypatch.setattr(program, "compile_ttir", compile_ttir)
        monkeypatch.setattr(
            program,
            "options_for",
            lambda entry, arch, requested: CompileOptions(requested.warps or 16, 3, maxnreg=128),
        )
        return tried

    def test_a_kernel_that_wants_too_many_is_compiled_for_fewer_warps(self, tried):
        made = program.compiled(source(COPY), SM_90, [], ["cubin"])
        assert (made.options.num_warps, made.options.num_stages) == (4, 3)
        assert tried == [(16, 3, 128), (16, 3, None), (8, 3, None), (4, 3, None)]
        assert [(one.options.num_warps, one.why) for one in made.rejected] == [
            (warps, "too few registers") for warps in (16, 16, 8)
        ]

    def test_what_was_requested_is_kept_or_refused(self, tried):
        with pytest.raises(tileir.UnsupportedError, match="too few registers"):
            program.compiled(source(COPY), SM_90, [], ["cubin"], RequestedOptions(warps=8))
        assert tried == [(8, 3, 128), (8, 3, None)]


class TestCompiler:
    @pytest.fixture(autouse=True)
    def triton(self):
        pytest.importorskip("triton", reason="needs triton: pip install '.[gpu]'")

    @pytest.mark.parametrize("arch", [SM_80, SM_90, SM_100], ids=lambda arch: arch.name)
    def test_parameters_of_every_type_take_what_a_launch_passes(self, arch, cache):
        text = f"entry @k({', '.join(f'%p{i}: tile<{ty}>' for i, ty in enumerate(ELEMENTS))}) {{ return }}"
        made = executable(source(text), arch, [], cache)
        info = cubin_kernels(made.binary)["tileir_k"]
        assert info.parameters == (1, 1, 1, 2, 4, 8, 2, 2, 4, 4, 8, 1, 1, 1, 8, 8, 8, 8)
        assert (made.kernel, made.threads, made.cluster, made.hidden) == ("tileir_k", info.threads, 1, ())
        assert made.scratch == Scratch(0, 1)

    def test_hidden_memory_is_passed_too(self, cache):
        made = executable(source(ASSERTING), SM_90, [], cache)
        assert made.hidden == (Mailbox(),)
        assert len(cubin_kernels(made.binary)["tileir_k"].parameters) == 4

    @pytest.mark.thorough
    def test_a_product_too_large_for_sixteen_warps_is_made_of_eight(self):
        text = Gemm(tile=(256, 256, 64)).text
        entry = next(iter(tileir.parse(text).kernels))
        made = program.compiled(source(text, entry), SM_90, aligned_facts(source(text, entry).entry), ["cubin"])
        assert made.options.num_warps == 8
        (rejected,) = made.rejected
        assert rejected.options.num_warps == 16
        assert "needs 154 registers or more, of 128" in rejected.why

    def test_a_cubin_tells_its_registers(self, cache):
        made = executable(source(COPY), SM_90, [], cache)
        info = cubin_kernels(made.binary)["tileir_k"]
        assert 0 < info.registers < 64
        assert info.stack == 0


@pytest.mark.parametrize(
    "content", [b"", b"nonsense", b"\x7fELF\x02", b"\x7fELF\x02" + bytes(70)], ids=["empty", "text", "cut", "zeros"]
)
def test_what_is_no_cubin_is_noticed(content):
    with pytest.raises(ValueError, match="expected a cubin"):
        cubin_kernels(content)
