"""Stand-ins for the functions of `torch.cuda` that programs use.

The device is the CPU: all work is finished when a call returns, random numbers are the CPU's, memory is the machine's.
"""

from __future__ import annotations

import pickle
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from tileir.cuda_as_cpu.device import CAPABILITY, DRIVER, NAME, DeviceProperties, memory
from tileir.cuda_as_cpu.timing import Event, Stream, capture
from tileir.host.patching import own_function, rebind

Function = Callable[..., Any]
NCCL = (2, 28, 0)
"""The version of NCCL that is reported."""


def answer_torch_cuda(torch: Any) -> None:
    """Put the stand-ins in place, for good."""
    _put(torch.cuda, {**_questions(), **_streams(), **_random(torch), **_memory(), **_graphs()})
    _put(torch.cuda.graphs, _graphs())
    _put(torch.cuda.random, _random(torch))
    _put(torch.cuda.nvtx, _ranges())
    _put(torch.cuda.nccl, {"version": lambda: NCCL, "is_available": _no})
    _put(torch.cuda.profiler, {"start": _nothing, "stop": _nothing, "profile": _within})
    _put(torch.cuda.memory, {**_memory(), **_SNAPSHOTS})
    rebind([(torch.random.fork_rng, _forking(torch.random.fork_rng))])
    _put(torch.autograd.profiler, {"emit_nvtx": _within})
    torch._C._cuda_getCurrentRawStream = own_function(_zero, None)
    torch.version.cuda = "{}.{}".format(*DRIVER)
    for name in _TYPES:
        setattr(torch.cuda, name, getattr(torch, name))
    if hasattr(torch, "accelerator"):
        _put(torch.accelerator, _accelerator(torch))


def _put(module: Any, stand_ins: dict[str, object]) -> None:
    for name, stand_in in stand_ins.items():
        setattr(module, name, own_function(stand_in, getattr(module, name, None)))


def _nothing(*args: object, **kwargs: object) -> None:
    """Do nothing, as nothing is pending and there is nothing to choose."""


def _zero(*args: object, **kwargs: object) -> int:
    return 0


def _no(*args: object, **kwargs: object) -> bool:
    return False


def _yes(*args: object, **kwargs: object) -> bool:
    return True


@contextmanager
def _within(*args: object, **kwargs: object) -> Iterator[None]:
    yield


def _questions() -> dict[str, object]:
    return {
        **dict.fromkeys(("is_available", "is_initialized", "is_bf16_supported", "is_tf32_supported"), _yes),
        **dict.fromkeys(("init", "set_device", "synchronize", "ipc_collect", "_sleep"), _nothing),
        "device_count": lambda: 1,
        "current_device": _zero,
        "can_device_access_peer": _no,
        "get_device_name": lambda device=None: NAME,
        "get_device_capability": lambda device=None: CAPABILITY,
        "get_device_properties": lambda device=None: DeviceProperties(),
        "get_arch_list": lambda: ["sm_{}{}".format(*CAPABILITY)],
        "utilization": _zero,
    }


def _streams() -> dict[str, object]:
    return {
        "Event": Event,
        "Stream": Stream,
        "ExternalStream": Stream,
        "current_stream": lambda device=None: Stream.null,
        "default_stream": lambda device=None: Stream.null,
        "set_stream": _nothing,
        **dict.fromkeys(("stream", "device", "device_of"), _within),
    }


def _random(torch: Any) -> dict[str, object]:
    """Return CUDA's functions of random numbers, which use the generator of the CPU."""
    generator = torch.default_generator
    return {
        "manual_seed": generator.manual_seed,
        "manual_seed_all": generator.manual_seed,
        "seed": generator.seed,
        "seed_all": generator.seed,
        "initial_seed": generator.initial_seed,
        "get_rng_state": lambda device="cuda": generator.get_state(),
        "get_rng_state_all": lambda: [generator.get_state()],
        "set_rng_state": lambda new_state, device="cuda": generator.set_state(new_state),
        "set_rng_state_all": lambda new_states: generator.set_state(new_states[0]),
        "default_generators": (generator,),
    }


def _forking(function: Function) -> Function:
    """Return `fork_rng`, which asks the accelerator for its generators unless it is told that they are CUDA's."""

    @wraps(function)
    def call(*args: Any, device_type: str | None = None, **kwargs: Any) -> Any:
        return function(*args, device_type=device_type or "cuda", **kwargs)

    return call


_TYPES = tuple(
    f"{element}Tensor"
    for element in ("Float", "Double", "Half", "BFloat16", "Byte", "Char", "Short", "Int", "Long", "Bool")
)
_COUNTS = (
    *("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved"),
    *("memory_cached", "max_memory_cached", "device_memory_used"),
)
_RESETS = (
    *("empty_cache", "reset_peak_memory_stats", "reset_max_memory_allocated", "reset_max_memory_cached"),
    *("reset_accumulated_memory_stats", "set_per_process_memory_fraction"),
)


def _memory() -> dict[str, object]:
    return {
        **dict.fromkeys(_COUNTS, _zero),
        **dict.fromkeys(_RESETS, _nothing),
        "memory_stats": lambda device=None: defaultdict(int),
        "memory_snapshot": lambda mempool_id=None, include_traces=True: [],
        "memory_summary": lambda device=None, abbreviated=False: "",
        "mem_get_info": lambda device=None: (memory(), memory()),
    }


def _snapshot(device: object = None, augment_with_fx_traces: bool = False) -> dict[str, object]:
    """Return what an allocator without memory and history says of itself."""
    return {"segments": [], "device_traces": [[]], "allocator_settings": {}, "external_annotations": []}


def _dump_snapshot(filename: str = "dump_snapshot.pickle", augment_with_fx_traces: bool = False) -> None:
    with open(filename, "wb") as file:
        pickle.dump(_snapshot(), file)


_SNAPSHOTS: dict[str, object] = {
    "_record_memory_history": _nothing,
    "_snapshot": _snapshot,
    "_dump_snapshot": _dump_snapshot,
}


def _accelerator(torch: Any) -> dict[str, object]:
    """Return the functions of `torch.accelerator`, which is the CPU."""
    questions, counts = _questions(), _memory()
    return {
        **{name: counts[name] for name in (*_COUNTS[:4], *_RESETS, "memory_stats") if hasattr(torch.accelerator, name)},
        **{name: questions[name] for name in ("is_available", "device_count", "synchronize")},
        **dict.fromkeys(("current_device_index", "current_device_idx"), _zero),
        **dict.fromkeys(("set_device_index", "set_device_idx", "set_stream"), _nothing),
        "device_index": _within,
        "current_accelerator": lambda check_available=False: torch.device("cpu"),
        "current_stream": lambda device=None: Stream.null,
        "get_memory_info": counts["mem_get_info"],
    }


def _ranges() -> dict[str, object]:
    """Return the NVTX ranges, which do nothing."""
    return {"range": _within, **dict.fromkeys(("range_push", "range_pop", "range_start", "range_end", "mark"), _zero)}


def _graphs() -> dict[str, object]:
    from tileir.cuda_as_cpu import graphs

    return {
        "CUDAGraph": graphs.CudaGraph,
        "graph": graphs.graph,
        "graph_pool_handle": graphs.graph_pool_handle,
        "make_graphed_callables": graphs.make_graphed_callables,
        "is_current_stream_capturing": lambda: capture.get() is not None,
    }
