"""Changes to Triton where its own mechanism for backends leaves no room."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from types import ModuleType
from typing import Any


@cache
def patch_triton(alone: bool) -> None:
    """Change Triton, once.

    `alone`: no GPU is there. Products of f32 are then exact unless a kernel asks for tf32, as Triton says of devices
    without tensor cores.
    """
    from triton import knobs
    from triton.compiler import compiler

    if alone and knobs.language.fp32_default is None:
        knobs.language.fp32_default = "ieee"
    compiler.AsmDict.__missing__ = _with_native_code(compiler.AsmDict.__missing__)
    if knobs.compilation.listener is None:
        knobs.compilation.listener = _tell_stages


def patch_tuner(_: ModuleType) -> None:
    """Change the tuner, which chooses its configurations before it asks for a driver: so as Triton is imported."""
    from triton.runtime.autotuner import Autotuner

    Autotuner.prune_configs = _distinct(Autotuner.prune_configs)


def _with_native_code(missing: Callable[..., str]) -> Callable[..., str]:
    """Return the method that fills ``kernel.asm``: native code is made on request, as that takes as long as compiling a
    kernel."""

    def make(asm: Any, key: str) -> str:
        if key not in ("llvm", "asm") or "tileir" not in asm:
            return missing(asm, key)
        from tileir.triton.program import native_code

        asm[key] = native_code(asm["tileir"], key)
        return str(asm[key])

    return make


def _tell_stages(*, metadata: dict[str, Any], times: Any, cache_hit: bool, **more: object) -> None:
    """Tell of the stages that Triton has measured, in microseconds: from Python to TTIR, and from there on."""
    if not cache_hit:
        from tileir.host.stages import tell

        measured = {"front end": times.ir_initialization, **dict(times.lowering_stages)}
        tell(metadata["name"], {name: microseconds / 1e6 for name, microseconds in measured.items()})


def _distinct(prune: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
    """Return `prune_configs` of a tuner: of configurations that a kernel on the CPU cannot tell apart, the first."""

    @wraps(prune)
    def pruned(tuner: Any, *args: Any, **kwargs: Any) -> list[Any]:
        from triton.runtime import driver

        found = prune(tuner, *args, **kwargs)
        if driver.active.get_current_target().backend != "cpu":
            return found
        distinct: dict[object, Any] = {}
        for config in found:
            distinct.setdefault(_meaning(config, tuner.arg_names), config)
        return list(distinct.values())

    return pruned


def _meaning(config: Any, parameters: list[str]) -> object:
    """Return the part of a configuration that reaches the kernel: its parameters, no hints."""
    passed = {name: value for name, value in config.all_kwargs().items() if name in parameters}
    return tuple(passed.items()), config.pre_hook, config.ir_override
