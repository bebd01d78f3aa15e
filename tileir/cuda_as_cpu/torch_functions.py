"""Torch's functions and methods that take a device: a CUDA device becomes the CPU.

Other functions are left alone and cost nothing. The change is made in the modules of torch, so that it holds for every
thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, wraps
from importlib import import_module
from typing import Any

from tileir.host.patching import own_function

Function = Callable[..., Any]

_FACTORIES = (
    "arange", "as_tensor", "asarray", "bartlett_window", "blackman_window", "empty", "empty_like", "empty_permuted",
    "empty_quantized", "empty_strided", "eye", "from_file", "full", "full_like", "hamming_window", "hann_window",
    "kaiser_window", "linspace", "logspace", "normal", "ones", "ones_like", "rand", "rand_like", "randint",
    "randint_like", "randn", "randn_like", "randperm", "range", "scalar_tensor", "sparse_bsc_tensor",
    "sparse_bsr_tensor", "sparse_compressed_tensor", "sparse_coo_tensor", "sparse_csc_tensor", "sparse_csr_tensor",
    "tensor", "tril_indices", "triu_indices", "zeros", "zeros_like",
)  # fmt: skip
_NEW = ("new_empty", "new_empty_strided", "new_full", "new_ones", "new_tensor", "new_zeros")
_PRODUCTS = ("mm", "bmm", "addmm", "baddbmm")


def take_cuda_for_cpu(torch: Any) -> None:
    """Change torch's functions, for good."""
    contexts = import_module("torch.utils._device")
    # Kept from here on: the functions that obey ``with torch.device(...)`` are the original ones.
    contexts._device_constructors()
    wrap(torch, _FACTORIES, _on_cpu)
    wrap(torch, ("set_default_device",), _to_cpu)
    wrap(torch, ("load",), _loading)
    wrap(torch, _PRODUCTS, _with_out_dtype(torch))
    wrap(torch.fft, ("fftfreq", "rfftfreq"), _on_cpu)
    wrap(contexts.DeviceContext, ("__init__",), _method_to_cpu)
    wrap(torch.Tensor, _NEW, _on_cpu)
    wrap(torch.Tensor, ("to",), _method_to_cpu)
    wrap(torch.Tensor, ("type",), _of_type)
    wrap(torch, ("set_default_tensor_type",), _of_default_type)
    torch.Generator = _generator(torch)
    for name, stand_in in _OF_TENSORS.items():
        setattr(torch.Tensor, name, own_function(stand_in, None))
    _cast_automatically(torch)


def _cast_automatically(torch: Any) -> None:
    """Let ``autocast("cuda")`` cast what the CPU computes, to the type that CUDA's would choose, and `GradScaler` scale
    gradients there. The type that CUDA's casts to by default stays apart from that of the CPU's."""
    usual, keep = torch.get_autocast_dtype, torch.set_autocast_dtype
    enabled = torch.is_autocast_enabled

    def get_autocast_dtype(device_type: str) -> Any:
        """Return the type that is cast to now, or that would be."""
        return usual(cpu_for(device_type) if enabled("cpu") else device_type)

    def set_autocast_dtype(device_type: str, dtype: Any) -> None:
        keep(device_type, dtype)
        if enabled("cpu"):
            keep(cpu_for(device_type), dtype)

    wrap(torch.amp.autocast_mode.autocast, ("__init__",), _autocast(lambda: usual("cuda")))
    wrap(torch.amp.grad_scaler.GradScaler, ("__init__",), _scaler)
    torch.get_autocast_dtype, torch.set_autocast_dtype = get_autocast_dtype, set_autocast_dtype
    torch.get_autocast_gpu_dtype = lambda: get_autocast_dtype("cuda")
    torch.set_autocast_gpu_dtype = lambda dtype: set_autocast_dtype("cuda", dtype)
    wrap(torch, ("is_autocast_enabled", "set_autocast_enabled"), _of_device_kind)
    for question in (torch.is_autocast_enabled, torch.get_autocast_dtype, torch.get_autocast_gpu_dtype):
        question._dynamo_marked_constant = True  # Dynamo takes the answer, as it does for torch's own.
    wrap(torch.amp, ("is_autocast_available",), _of_device_kind)
    for name in ("custom_fwd", "custom_bwd"):
        wrap(torch.amp, (name,), _decorator_of_device_kind)
        setattr(torch.cuda.amp, name, partial(getattr(torch.amp, name), device_type="cuda"))


def wrap(owner: Any, names: Sequence[str], wrapper: Callable[[Function], Function]) -> None:
    """Put a wrapper of each function in its place, where it exists."""
    for name in names:
        if hasattr(owner, name):
            setattr(owner, name, wrapper(getattr(owner, name)))


def cpu_for(device: Any) -> Any:
    """Return the CPU for a CUDA device, however it is named; anything else as it is."""
    kind = device.__class__
    if kind is str:
        return "cpu" if device == "cuda" or device.startswith("cuda:") else device
    if kind is int:
        return "cpu"
    if kind.__name__ == "device" and device.type == "cuda":
        return kind("cpu")
    return device


# ---------------------------------------------------------------- wrappers


def _on_cpu(function: Function) -> Function:
    """Return a function that makes a tensor: its device is a keyword, and its memory may be asked to be pinned."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        if "device" in kwargs:
            kwargs["device"] = cpu_for(kwargs["device"])
        kwargs.pop("pin_memory", None)
        return function(*args, **kwargs)

    return call


def _to_cpu(function: Function) -> Function:
    """Return a function of a device."""

    @wraps(function)
    def call(device: Any) -> Any:
        __tracebackhide__ = True
        return function(cpu_for(device))

    return call


def _method_to_cpu(function: Function) -> Function:
    """Return a method whose first argument may be a device."""

    @wraps(function)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        if args:
            args = (cpu_for(args[0]), *args[1:])
        elif "device" in kwargs:
            kwargs["device"] = cpu_for(kwargs["device"])
        return function(self, *args, **kwargs)

    return call


def _of_type(function: Function) -> Function:
    """Return `Tensor.type`, whose argument may name a tensor of CUDA."""

    @wraps(function)
    def call(self: Any, dtype: Any = None, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        return function(self, _cpu_type(dtype), *args, **kwargs)

    return call


def _of_default_type(function: Function) -> Function:
    """Return `set_default_tensor_type`, whose argument may name a tensor of CUDA."""

    @wraps(function)
    def call(t: Any) -> None:
        __tracebackhide__ = True
        function(_cpu_type(t))

    return call


def _cpu_type(tensor_type: Any) -> Any:
    """Return the name of a type of tensors without its device; anything else as it is."""
    return tensor_type.replace("torch.cuda.", "torch.") if isinstance(tensor_type, str) else tensor_type


def _autocast(usual: Callable[[], Any]) -> Callable[[Function], Function]:
    """Return a wrapper of ``autocast.__init__``; `usual` gives the type that CUDA's casts to if none is given."""

    def wrapper(function: Function) -> Function:
        @wraps(function)
        def call(self: Any, device_type: str, dtype: Any = None, *args: Any, **kwargs: Any) -> None:
            __tracebackhide__ = True
            asked = cpu_for(device_type)
            if asked != device_type and dtype is None:
                dtype = usual()
            function(self, asked, dtype, *args, **kwargs)

        return call

    return wrapper


def _scaler(function: Function) -> Function:
    """Return ``GradScaler.__init__``, which takes CUDA for granted."""

    @wraps(function)
    def call(self: Any, device: str = "cuda", *args: Any, **kwargs: Any) -> None:
        __tracebackhide__ = True
        function(self, cpu_for(device), *args, **kwargs)

    return call


def _of_device_kind(function: Function) -> Function:
    """Return a function of a kind of device, which is CUDA if it is left out."""

    @wraps(function)
    def call(device_type: Any = "cuda", *args: Any) -> Any:
        __tracebackhide__ = True
        if isinstance(device_type, bool):  # the kind was left out
            device_type, args = "cuda", (device_type, *args)
        return function(cpu_for(device_type), *args)

    return call


def _decorator_of_device_kind(function: Function) -> Function:
    """Return a decorator of methods, which names a kind of device by keyword."""

    @wraps(function)
    def call(*args: Any, device_type: str, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        return function(*args, device_type=cpu_for(device_type), **kwargs)

    return call


def _loading(function: Function) -> Function:
    """Return `torch.load`, which loads to the CPU unless it is told how tensors move."""

    @wraps(function)
    def call(f: Any, map_location: Any = "cpu", *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        where = "cpu" if map_location is None else cpu_for(map_location)
        if isinstance(where, dict):
            where = {source: cpu_for(target) for source, target in where.items()}
        return function(f, where, *args, **kwargs)

    return call


def _with_out_dtype(torch: Any) -> Callable[[Function], Function]:
    """Return matrix products with a wider result, which they do not give on the CPU: factors are widened."""

    def wrapper(function: Function) -> Function:
        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            wider = kwargs.pop("out_dtype", None)
            if wider is None and args and isinstance(args[-1], torch.dtype):
                *args, wider = args  # type: ignore[assignment]
            if wider is not None:
                args = tuple(argument.to(wider) for argument in args)
            return function(*args, **kwargs)

        return call

    return wrapper


def _generator(torch: Any) -> type:
    """Return torch's generator of random numbers, on the CPU whatever is asked for; a class, as annotations want
    one."""

    class Generator(torch.Generator):
        def __new__(cls, device: object = "cpu") -> Any:
            return super().__new__(cls, device=cpu_for(device))

    return Generator


# ---------------------------------------------------------------- what tensors say


def _itself(tensor: Any, *args: object, **kwargs: object) -> Any:
    return tensor


_OF_TENSORS = {
    "cuda": _itself,
    "pin_memory": _itself,
    "is_pinned": lambda tensor, device=None: True,
    "is_cuda": property(lambda tensor: True),
    "get_device": lambda tensor: 0,
    "record_stream": lambda tensor, stream: None,
}
