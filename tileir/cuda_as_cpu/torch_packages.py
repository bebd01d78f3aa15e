"""Packages of torch that ask for a kind of device: operators, the profiler, groups of processes.

What they do for CUDA they do for the CPU: a kernel for CUDA is registered for the CPU, NCCL becomes Gloo, the activity
of CUDA that of the CPU.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from importlib import import_module
from types import ModuleType
from typing import Any

from tileir.cuda_as_cpu.torch_functions import cpu_for, wrap
from tileir.host.patching import rebind, when_imported

Function = Callable[..., Any]


def answer_torch_packages(torch: Any) -> None:
    """Put the stand-ins in place, for good."""
    _register_for_cpu(torch)
    _profile_cpu(torch)
    wrap(import_module("torch.nn.attention"), ("_sdpa_kernel",), _attention)
    if torch.distributed.is_available():
        _communicate_with_gloo(torch)
    # Models are not copied to several devices.
    rebind([(torch._utils._get_available_device_type, lambda: None)])
    optimizer = import_module("torch.optim.optimizer")
    capturable = optimizer._get_capturable_supported_devices
    rebind([(capturable, lambda supports_xla=True: [*capturable(supports_xla), "cpu"])])


# ---------------------------------------------------------------- custom operators


def _register_for_cpu(torch: Any) -> None:
    wrap(torch.library.Library, ("__init__",), _of_library)
    wrap(torch.library.Library, ("impl",), _implementation(torch))
    wrap(torch.library, ("register_autocast",), _for_kind)
    wrap(torch._library.custom_ops.CustomOpDef, ("register_autocast",), _for_kind)


def _key(dispatch_key: Any) -> Any:
    """Return the CPU's dispatch key for one of CUDA's: ``AutogradCPU`` for ``AutogradCUDA``."""
    return dispatch_key.removesuffix("CUDA") + "CPU" if str(dispatch_key).endswith("CUDA") else dispatch_key


def _of_library(function: Function) -> Function:
    """Return ``Library.__init__``, which may name the key of all implementations."""

    @wraps(function)
    def call(self: Any, ns: str, kind: str, dispatch_key: str = "") -> None:
        __tracebackhide__ = True
        function(self, ns, kind, _key(dispatch_key))

    return call


def _implementation(torch: Any) -> Callable[[Function], Function]:
    """Return a wrapper of ``Library.impl``; of implementations for the CPU and for CUDA, that for CUDA is kept."""
    for_cuda: set[tuple[str, str, str]] = set()

    def wrapper(function: Function) -> Function:
        @wraps(function)
        def call(self: Any, op_name: Any, fn: Any, dispatch_key: str = "", **kwargs: Any) -> None:
            __tracebackhide__ = True
            key = dispatch_key if _is_of_torch(fn) else _key(dispatch_key)
            operator = (self.ns, str(op_name).rpartition("::")[2], key)
            if key != dispatch_key:
                for_cuda.add(operator)
            elif operator in for_cuda:
                return
            if key == "BackendSelect" and kwargs.get("with_keyset"):
                fn = _selecting_cpu(torch, fn, *operator[:2])
            function(self, op_name, fn, key, **kwargs)

        return call

    return wrapper


def _is_of_torch(implementation: object) -> bool:
    """Return whether torch implements an operator of its own."""
    module = str(getattr(implementation, "__module__", ""))
    return module.startswith("torch.") and module not in ("torch.library", "torch._library.custom_ops")


def _selecting_cpu(torch: Any, select: Function, namespace: str, name: str) -> Function:
    """Return what chooses the implementation of an operator without tensors by the device that it is given: the CPU's
    for CUDA, and for the CPU, as tensors say that they lie there."""
    cpu = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)

    def call(keys: Any, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        if {one.type for one in (*args, *kwargs.values()) if isinstance(one, torch.device)} & {"cpu", "cuda"}:
            return getattr(getattr(torch.ops, namespace), name).default.redispatch(cpu, *args, **kwargs)
        return select(keys, *args, **kwargs)

    return call


def _for_kind(function: Function) -> Function:
    """Return ``register_autocast`` of an operator for a kind of device."""

    @wraps(function)
    def call(operator: Any, device_type: str, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        return function(operator, cpu_for(device_type), *args, **kwargs)

    return call


def _attention(function: Function) -> Function:
    """Return what allows kernels of attention: the CPU's own where one is named that only GPUs have."""
    kinds = import_module("torch.nn.attention").SDPBackend
    instead = [kinds.FLASH_ATTENTION, kinds.MATH]

    @wraps(function)
    def call(backends: Any, set_priority: bool = False) -> None:
        __tracebackhide__ = True
        asked = list(backends)
        of_gpus = not {kinds.CUDNN_ATTENTION, kinds.EFFICIENT_ATTENTION}.isdisjoint(asked)
        function(list(dict.fromkeys(asked + instead * of_gpus)), set_priority)

    return call


# ---------------------------------------------------------------- profiler


def _profile_cpu(torch: Any) -> None:
    cuda, cpu = torch.profiler.ProfilerActivity.CUDA, torch.profiler.ProfilerActivity.CPU

    def activities(asked: Any) -> Any:
        if isinstance(asked, dict):
            return {kind: names for kind, names in asked.items() if kind is not cuda} or {cpu: []}
        return None if asked is None else list(dict.fromkeys(cpu if kind is cuda else kind for kind in asked))

    wrap(torch.profiler.profiler._KinetoProfile, ("__init__",), _profiling(activities))
    wrap(torch.autograd.profiler.profile, ("__init__",), _profiling_device)
    table = torch.autograd.profiler_util._build_table
    rebind([(table, _table(table))])


def _profiling(activities: Callable[[Any], Any]) -> Callable[[Function], Function]:
    def wrapper(function: Function) -> Function:
        @wraps(function)
        def call(self: Any, *args: Any, **kwargs: Any) -> None:
            __tracebackhide__ = True
            if args:
                args = (activities(args[0]), *args[1:])
            elif "activities" in kwargs:
                kwargs["activities"] = activities(kwargs["activities"])
            function(self, *args, **kwargs)

        return call

    return wrapper


def _profiling_device(function: Function) -> Function:
    """Return the profiler of autograd, which times a device if one is named."""

    @wraps(function)
    def call(self: Any, enabled: bool = True, **kwargs: Any) -> None:
        __tracebackhide__ = True
        kwargs.pop("use_cuda", None)
        if kwargs.get("use_device") == "cuda":
            del kwargs["use_device"]
        function(self, enabled, **kwargs)

    return call


def _table(function: Function) -> Function:
    """Return the function that prints events, which sorts by the CPU's time instead of CUDA's."""

    @wraps(function)
    def call(events: Any, sort_by: str | None = None, *args: Any, **kwargs: Any) -> str:
        __tracebackhide__ = True
        if sort_by is not None:
            sort_by = sort_by.replace("cuda", "cpu").replace("device", "cpu")
        return str(function(events, sort_by, *args, **kwargs))

    return call


# ---------------------------------------------------------------- groups of processes


def _communicate_with_gloo(torch: Any) -> None:
    groups = import_module("torch.distributed.distributed_c10d")
    meshes = import_module("torch.distributed.device_mesh")
    changed = {name: _in_group(getattr(groups, name)) for name in ("init_process_group", "new_group", "barrier")}
    changed["init_device_mesh"] = _mesh(meshes.init_device_mesh)
    originals = {**vars(groups), "init_device_mesh": meshes.init_device_mesh}
    rebind([(originals[name], function) for name, function in changed.items()])
    rebind([(groups.is_nccl_available, lambda: True)])
    when_imported("torch.distributed._symmetric_memory", _share_memory)
    wrap(torch.nn.parallel.DistributedDataParallel, ("__init__",), _parallel)


def _backend(asked: Any) -> Any:
    """Return Gloo for NCCL, also where each kind of device has a backend (``cpu:gloo,cuda:nccl``)."""
    return "gloo" if isinstance(asked, str) and "nccl" in asked.lower() else asked


def _in_group(function: Function) -> Function:
    """Return a function whose backend may be NCCL, and whose devices may be those of CUDA."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        args = tuple(map(_backend, args[:1])) + args[1:]
        for name in ("device_id", "device_ids"):
            kwargs.pop(name, None)
        if "backend" in kwargs:
            kwargs["backend"] = _backend(kwargs["backend"])
        return function(*args, **kwargs)

    return call


def _mesh(function: Function) -> Function:
    @wraps(function)
    def call(device_type: str, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        return function(cpu_for(device_type), *args, **kwargs)

    return call


def _parallel(function: Function) -> Function:
    """Return the ``__init__`` of a parallel model, without its devices."""

    @wraps(function)
    def call(self: Any, module: Any, device_ids: object = None, output_device: object = None, **kwargs: Any) -> None:
        __tracebackhide__ = True
        function(self, module, **kwargs)

    return call


# ---------------------------------------------------------------- symmetric memory


def _share_memory(module: ModuleType) -> None:
    """Let processes of a group read each other's symmetric memory, which is shared memory of this machine."""
    torch: Any = import_module("torch")
    rebind([(module.empty, torch.empty), (module.rendezvous, partial(SymmetricMemory, torch))])


class SymmetricMemory:
    """What `rendezvous` makes of a tensor: the tensor of every process of a group. There are no signals between
    kernels: they are finished when `barrier` is called."""

    def __init__(self, torch: Any, tensor: Any, group: Any) -> None:
        """``group``: a group of processes, or the name of one; all of them call this."""
        self._torch, self._group, groups = torch, group, torch.distributed.distributed_c10d
        if isinstance(group, str):
            self._group = groups._resolve_process_group(group)
        self.rank, self.world_size = groups.get_rank(self._group), groups.get_world_size(self._group)
        own = tensor.untyped_storage()
        handles: list[Any] = [None] * self.world_size
        groups.all_gather_object(handles, own._share_filename_cpu_(), self._group)
        shared = torch.UntypedStorage._new_shared_filename_cpu
        self._buffers = [own if rank == self.rank else shared(*handle) for rank, handle in enumerate(handles)]
        self.buffer_ptrs, self.buffer_size = [buffer.data_ptr() for buffer in self._buffers], own.nbytes()
        self.barrier()  # No process goes before all have opened its memory.

    def get_buffer(self, rank: int, sizes: Any, dtype: Any, storage_offset: int = 0) -> Any:
        """Return the memory of a process as a tensor; `storage_offset` is in elements."""
        return self._torch.empty(0, dtype=dtype).set_(self._buffers[rank], storage_offset, tuple(sizes))

    def barrier(self, channel: int = 0, timeout_ms: int = 0) -> None:
        """Wait for all processes of the group."""
        self._torch.distributed.distributed_c10d.barrier(self._group)
