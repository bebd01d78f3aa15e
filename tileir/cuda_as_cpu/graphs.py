"""CUDA graphs on the CPU: capturing runs the work and records it, and a replay runs it again.

Recorded are torch's operations, below autograd, and the launches of kernels. A replay writes into the tensors of the
capture, as a GPU does. Code in between (Python, NumPy, printing) is not recorded, nor can an operation be whose result
decides what follows. Unlike a GPU's, a capture does the work once itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

from tileir.cuda_as_cpu.timing import Step, Stream, capture
from tileir.ir.diagnostics import UnsupportedError

_READ_VALUES = {torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape}
"""The tags of operations that a GPU has to wait for."""
_WITHOUT_VALUES = {
    f"aten::{name}"
    for name in ("empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided")
}


class CudaGraph:
    """The work that was done while it was captured, ready to be done again."""

    def __init__(self, keep_graph: bool = False) -> None:
        self._steps: list[Step] = []
        self._recorder: _Recorder | None = None

    def capture_begin(self, *args: object, **kwargs: object) -> None:
        """Record what this thread does from now on; pools and modes of errors make no difference."""
        if capture.get() is not None:
            raise RuntimeError("a CUDA graph is being captured already")
        self._steps = []
        self._recorder = _Recorder(self._steps)
        capture.set(self._steps)
        self._recorder.__enter__()

    def capture_end(self) -> None:
        if self._recorder is None:
            raise RuntimeError("no CUDA graph is being captured")
        self._recorder.__exit__(None, None, None)
        self._recorder = None
        capture.set(None)

    def replay(self) -> None:
        with torch.no_grad(), torch._C._AutoDispatchBelowAutograd():
            for step in self._steps:
                step()

    def reset(self) -> None:
        self._steps = []

    def instantiate(self) -> None:
        """Do nothing, as a graph is ready once it is captured."""

    def pool(self) -> tuple[int, int]:
        return graph_pool_handle()

    def enable_debug_mode(self) -> None:
        """Do nothing, as there is no graph of CUDA's to look at."""


class graph:
    """The context in which a graph is captured, by torch's name for it."""

    default_capture_stream: Stream | None = None

    def __init__(self, cuda_graph: CudaGraph, *args: object, **kwargs: object) -> None:
        self.cuda_graph = cuda_graph

    def __enter__(self) -> None:
        self.cuda_graph.capture_begin()

    def __exit__(self, *error: object) -> None:
        self.cuda_graph.capture_end()


def make_graphed_callables(callables: Any, sample_args: object, *args: object, **kwargs: object) -> Any:
    """Return the callables as they are: to call one is to replay it."""
    return callables


def graph_pool_handle() -> tuple[int, int]:
    return (0, 0)


class _Recorder(TorchDispatchMode):
    """Runs torch's operations and records them."""

    def __init__(self, steps: list[Step]) -> None:
        super().__init__()
        self._steps = steps

    def __torch_dispatch__(self, func: Any, types: object, args: Any = (), kwargs: Any = None) -> Any:
        __tracebackhide__ = True
        if not _READ_VALUES.isdisjoint(func.tags):
            what = f"a CUDA graph with {func.name()}, whose result decides what follows: it would not in a replay"
            raise UnsupportedError(what, "CUDA as CPU")
        kwargs = kwargs or {}
        capture.set(None)  # Launches within an operation are a part of it.
        try:
            result = func(*args, **kwargs)
        finally:
            capture.set(self._steps)
        made = [tensor.detach() for tensor in _made(func, result)]
        if made or func._schema.is_mutable:
            args, kwargs = tree_map(_memory_of, (args, kwargs))
            self._steps.append(partial(_repeat, func, args, kwargs, made))
        return result


def _made(func: Any, result: Any) -> Iterator[torch.Tensor]:
    """Return the tensors that an operation has made, no views and nothing that it was given."""
    if func._schema.name in _WITHOUT_VALUES:
        return
    returned = func._schema.returns
    for one, value in zip(returned, result if len(returned) > 1 else (result,), strict=False):
        if one.alias_info is None:
            yield from (leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor))


def _memory_of(argument: object) -> object:
    """Return a tensor of the same memory, whatever becomes of the argument."""
    return argument.detach() if isinstance(argument, torch.Tensor) else argument


def _repeat(func: Callable[..., Any], args: Any, kwargs: Any, made: list[torch.Tensor]) -> None:
    for tensor, now in zip(made, _made(func, func(*args, **kwargs)), strict=True):
        tensor.copy_(now)
