"""What torch answers with ``--cuda-as-cpu``, asked by scripts that run as a user would run them."""

from pathlib import Path

import pytest

from tests.processes import run_python

torch = pytest.importorskip("torch")
pytest.importorskip("cuda.tile", reason="needs the package cuda-tile")

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(torch.cuda.is_available(), reason="a GPU is there: nothing is mapped")


def output(folder: Path, script: str) -> str:
    """Return what a script prints; it must not fail."""
    path = folder / "script.py"
    path.write_text(script)
    done = run_python("-m", "tileir.cutile", "--cuda-as-cpu", path)
    assert done.returncode == 0, done.stderr
    assert "C++" not in done.stderr and "frame #" not in done.stderr
    return done.stdout


AUTOCAST = """\
import torch
import torch._dynamo
import torch.utils.benchmark

x = torch.ones(8, 8, device="cuda")
with torch.autocast("cuda", dtype=torch.bfloat16):
    assert torch.is_autocast_enabled() and torch.is_autocast_enabled("cuda")
    assert (x @ x).dtype == torch.bfloat16 == torch.get_autocast_dtype("cuda")
    with torch.autocast(device_type="cuda", enabled=False):
        assert (x @ x).dtype == torch.float32
with torch.amp.autocast("cuda"):
    assert (x @ x).dtype == torch.float16
assert torch.get_autocast_dtype("cuda") == torch.get_autocast_gpu_dtype() == torch.float16
torch.set_autocast_dtype("cuda", torch.bfloat16)
with torch.autocast("cuda"):
    assert (x @ x).dtype == torch.bfloat16
torch.set_autocast_gpu_dtype(torch.float16)
with torch.autocast("cuda"):
    assert (x @ x).dtype == torch.float16
with torch.autocast("cpu"):
    assert (x @ x).dtype == torch.bfloat16
assert (x @ x).dtype == torch.float32

class Doubled(torch.autograd.Function):
    @staticmethod
    @torch.amp.custom_fwd(device_type="cuda", cast_inputs=torch.float32)
    def forward(context, x):
        assert x.dtype == torch.float32 and not torch.is_autocast_enabled("cuda")
        return 2 * x

    @staticmethod
    @torch.cuda.amp.custom_bwd
    def backward(context, gradient):
        return 2 * gradient

model = torch.nn.Linear(8, 1).cuda()
optimizer, scaler = torch.optim.SGD(model.parameters()), torch.amp.GradScaler(init_scale=4.0)
with torch.autocast("cuda", dtype=torch.float16):
    loss = Doubled.apply(model(x)).sum()
scaler.scale(loss).backward()
assert model.bias.grad.item() == 4 * 2 * 8
scaler.unscale_(optimizer)
assert model.bias.grad.item() == 2 * 8
scaler.step(optimizer)
scaler.update()
assert scaler.is_enabled() and scaler.get_scale() == 4.0
assert torch.utils.benchmark.Timer("x @ x", globals={"x": x}).timeit(2).mean > 0
names = [torch.cuda.synchronize, torch.cuda.init, torch.cuda.empty_cache, torch.cuda.manual_seed]
assert [one.__name__ for one in names] == ["synchronize", "init", "empty_cache", "manual_seed"]
print("cast")
"""


def test_autocast_and_dynamo_take_cuda_for_the_cpu(tmp_path):
    assert output(tmp_path, AUTOCAST) == "cast\n"


OTHER_FUNCTIONS = """\
import torch
from tileir.cuda_as_cpu import cuda_as_cpu

def functions():
    return [getattr(owner, name) for owner in (torch, torch.Tensor) for name in ("add", "matmul", "sum", "exp")]

before = functions()
assert cuda_as_cpu()
print(before == functions(), torch._C._len_torch_function_stack())
"""


def test_cuda_as_cpu_leaves_functions_alone_that_take_no_device():
    """No mode of torch, through which every call would go."""
    done = run_python("-c", OTHER_FUNCTIONS)
    assert done.stdout == "True 0\n", done.stderr


OPERATORS = """\
import torch
from torch import Tensor

x = torch.ones(2, device="cuda")

@torch.library.custom_op("ours::of_device", mutates_args=(), device_types="cuda")
def of_device(x: Tensor) -> Tensor:
    return x + 1

@torch.library.custom_op("ours::of_both", mutates_args=(), device_types="cpu")
def of_both(x: Tensor) -> Tensor:
    raise AssertionError("the kernel for the CPU")

@of_both.register_kernel("cuda")
def _(x):
    return x + 2

@of_device.register_kernel("cpu")
def _(x):
    raise AssertionError("the kernel for the CPU")

library = torch.library.Library("theirs", "DEF")
library.define("keyed(Tensor x) -> Tensor")
library.impl("keyed", lambda x: x + 3, "CUDA")
torch.library.define("theirs::by_name", "(Tensor x) -> Tensor")
torch.library.impl("theirs::by_name", "cuda")(lambda x: x + 4)
torch.library.define("theirs::kernel", "(Tensor x) -> Tensor")
torch.library.register_kernel("theirs::kernel", "cuda")(lambda x: x + 5)
found = [of_device(x), of_both(x), *(getattr(torch.ops.theirs, name)(x) for name in ("keyed", "by_name", "kernel"))]
print([one[0].item() for one in found])

@torch.compile(fullgraph=True)
def compiled(x):
    return of_device(torch.zeros(2, device="cuda") + x)

of_device.register_fake(torch.empty_like)
print(compiled(x))

@torch.library.custom_op("ours::counted", mutates_args=(), device_types="cuda")
def counted(n: int, device: torch.device) -> Tensor:
    return torch.arange(n, device=device)

places = "cuda", "cuda:0", torch.device("cuda", 0), x.device
print([counted(2, device).tolist() for device in places], counted(n=2, device="cuda").tolist())
"""


def test_an_operator_for_cuda_is_one_for_the_cpu(tmp_path):
    assert output(tmp_path, OPERATORS) == (
        "[2.0, 3.0, 4.0, 5.0, 6.0]\ntensor([2., 2.])\n[[0, 1], [0, 1], [0, 1], [0, 1]] [0, 1]\n"
    )


QUESTIONS = """\
import pickle
import sys

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

x = torch.cuda.FloatTensor([1.0, 2.0])
assert isinstance(x.cuda(), torch.cuda.FloatTensor) and x.type() == "torch.FloatTensor" and x.device.type == "cpu"
assert x.type(torch.cuda.HalfTensor).dtype == x.type("torch.cuda.HalfTensor").dtype == torch.float16
assert int(torch.version.cuda.partition(".")[0]) >= 13
accelerator = torch.accelerator
assert accelerator.is_available() and accelerator.device_count() == 1 and accelerator.current_device_index() == 0
assert x.device == accelerator.current_accelerator()
accelerator.synchronize()
with torch.random.fork_rng(), torch.random.fork_rng(devices=[0]):
    torch.manual_seed(1)
assert torch.cuda.memory_stats()["allocated_bytes.all.peak"] == torch.accelerator.memory_allocated() == 0
torch.cuda.memory._record_memory_history()
file = sys.argv[0] + ".pickle"
torch.cuda.memory._dump_snapshot(file)
with open(file, "rb") as snapshot:
    assert pickle.load(snapshot) == torch.cuda.memory._snapshot() and not torch.cuda.memory_snapshot()
assert torch.nn.DataParallel(torch.nn.Linear(2, 3).cuda())(x).shape == (3,)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x), pin_memory=True)
assert [batch.to("cuda", non_blocking=True).item() for (batch,) in loader] == [1, 2]
queries = torch.ones(1, 2, 16, 8, device="cuda")
for kind in (SDPBackend.CUDNN_ATTENTION, [SDPBackend.EFFICIENT_ATTENTION, SDPBackend.FLASH_ATTENTION]):
    with sdpa_kernel(kind):
        assert torch.nn.functional.scaled_dot_product_attention(queries, queries, queries).equal(queries)
with sdpa_kernel(SDPBackend.MATH):
    assert not torch.backends.cuda.flash_sdp_enabled()
assert torch.backends.cuda.flash_sdp_enabled() and torch.cuda.nccl.version() > (2, 0)
torch.set_default_tensor_type("torch.cuda.FloatTensor")
print("answered")
"""


def test_types_and_the_accelerator_are_the_cpus(tmp_path):
    assert output(tmp_path, QUESTIONS) == "answered\n"


PROFILED = """\
import torch
from torch.profiler import ProfilerActivity, profile, record_function

x = torch.ones(64, 64, device="cuda")
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True) as found:
    with record_function("work"):
        x @ x
print("aten::mm" in found.key_averages().table(sort_by="cuda_time_total", row_limit=5))
with profile(activities=[ProfilerActivity.CUDA]) as found:
    x @ x
print("aten::mm" in found.key_averages().table(sort_by="self_device_time_total"))
with torch.autograd.profiler.profile(use_device="cuda") as found, torch.autograd.profiler.emit_nvtx():
    x @ x
print("aten::mm" in found.key_averages().table())
"""


def test_the_profiler_of_cuda_shows_the_cpus_times(tmp_path):
    assert [line for line in output(tmp_path, PROFILED).splitlines() if "True" in line] == ["True"] * 3


DISTRIBUTED = """\
import os
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="0", RANK="0", WORLD_SIZE="1", LOCAL_RANK="0")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
device, store = torch.device("cuda", 0), dist.HashStore()
dist.init_process_group("cpu:gloo,cuda:nccl", device_id=device, store=store, rank=0, world_size=1)
x = torch.ones(3, device="cuda")
dist.all_reduce(x, group=dist.new_group(backend="nccl"))
dist.barrier(device_ids=[0])
model = DistributedDataParallel(torch.nn.Linear(3, 1).cuda(), device_ids=[0], output_device=0)
model(x).sum().backward()
print(dist.is_nccl_available(), dist.get_backend(), model.module.weight.grad.tolist())
dist.destroy_process_group()
dist.init_process_group("nccl", store=dist.HashStore(), rank=0, world_size=1)
mesh = torch.distributed.init_device_mesh("cuda", (1,))
print(mesh.device_type)
dist.destroy_process_group()
"""


def test_groups_with_nccl_have_gloo(tmp_path):
    assert output(tmp_path, DISTRIBUTED) == "True gloo [[1.0, 1.0, 1.0]]\ncpu\n"


GRAPHS = """\
import cuda.tile as ct
import torch

@ct.kernel
def double(x, out, size: ct.Constant[int]):
    ct.store(out, (ct.bid(0),), 2 * ct.load(x, (ct.bid(0),), (size,)))

def work(x):
    doubled = torch.empty_like(x)
    ct.launch(torch.cuda.current_stream(), (3,), double, (x, doubled, 128))
    return doubled.sin() + x.view(3, 100).sum()

x = torch.zeros(300, device="cuda")
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    assert torch.cuda.is_current_stream_capturing()
    result = work(x)
for value in (1.0, 3.0):
    x.fill_(value)
    graph.replay()
    assert torch.equal(result, work(x))

model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Dropout(0.1), torch.nn.ReLU(), torch.nn.Linear(8, 1)).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, capturable=True)
given = torch.randn(64, 8, device="cuda")
wanted = given.sum(1, keepdim=True)
training = torch.cuda.CUDAGraph()
with torch.cuda.graph(training, pool=graph.pool()):
    loss = torch.nn.functional.mse_loss(model(given), wanted)
    loss.backward()
    optimizer.step()
before = loss.item()
for _ in range(200):
    training.replay()
assert loss.item() < before / 4
graphed = torch.cuda.make_graphed_callables(model.eval(), (given,))
assert torch.equal(graphed(given), model(given))
try:
    with torch.cuda.graph(torch.cuda.CUDAGraph()):
        x.sum().item()
except Exception as error:
    print(error)
assert not torch.cuda.is_current_stream_capturing()
"""


def test_a_captured_graph_runs_again(tmp_path):
    assert output(tmp_path, GRAPHS).startswith("a CUDA graph with aten::_local_scalar_dense")


TRITON_GRAPH = """\
import torch
import triton
import triton.language as tl

@triton.jit
def grow(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, mask=at < n) + 1, mask=at < n)

x = torch.zeros(300, device="cuda")
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    y = x * 2
    grow[(3,)](y, 300, BLOCK=128)
for value in (0.0, 5.0):
    x.fill_(value)
    graph.replay()
    assert (y == 2 * value + 1).all()
print(triton.testing.do_bench_cudagraph(lambda: grow[(3,)](x, 300, BLOCK=128), rep=5) > 0)
"""


def test_launches_of_triton_are_recorded_too(tmp_path):
    pytest.importorskip("triton", reason="needs the package triton")
    assert output(tmp_path, TRITON_GRAPH) == "True\n"


COMPILED = """\
import cuda.tile as ct
import torch

@ct.kernel
def add(x, y, out, size: ct.Constant[int]):
    i = ct.bid(0)
    ct.store(out, (i,), ct.load(x, (i,), (size,)) + ct.load(y, (i,), (size,)))

class Add(torch.autograd.Function):
    @staticmethod
    def forward(context, x, y):
        out = torch.empty_like(x)
        ct.launch(torch.cuda.current_stream(), (ct.cdiv(x.numel(), 128),), add, (x, y, out, 128))
        return out

    @staticmethod
    def backward(context, gradient):
        return gradient, gradient

@torch.compile
def compiled(x, y):
    return Add.apply(x.sin(), y) * 2

class Doubled(torch.autograd.Function):
    @staticmethod
    @torch.amp.custom_fwd(device_type="cuda", cast_inputs=torch.float32)
    def forward(context, x):
        return 2 * x

    @staticmethod
    @torch.amp.custom_bwd(device_type="cuda")
    def backward(context, gradient):
        return 2 * gradient

@torch.compile(fullgraph=True)
def whole(x):
    y = torch.zeros_like(x).to("cuda") + x
    assert not torch.is_autocast_enabled() or torch.get_autocast_dtype("cuda") == torch.bfloat16
    return Doubled.apply(y)

with torch.autocast("cuda", dtype=torch.bfloat16):
    assert whole(torch.ones(2, requires_grad=True)).tolist() == [2, 2]

x, y = torch.randn(300, device="cuda", requires_grad=True), torch.randn(300, device="cuda")
compiled(x, y).sum().backward()
torch.testing.assert_close(compiled(x, y), (x.sin() + y) * 2)
torch.testing.assert_close(x.grad, 2 * x.detach().cos())
print(torch._dynamo.explain(lambda x, y: Add.apply(x.sin(), y) * 2)(x, y).graph_count < 5)
"""


@pytest.mark.thorough
def test_compiled_code_launches_kernels(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(COMPILED)
    done = run_python("-m", "tileir.cutile", "--cuda-as-cpu", path)
    assert done.stdout == "True\n", done.stderr
    assert "Dynamo" not in done.stderr  # it does not look into launches
