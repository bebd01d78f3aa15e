"""Changes to Triton where its own mechanism for backends leaves no room."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import Any


@cache
def patch_triton(alone: bool) -> None:
    """Change Triton, once.

    `alone`: no GPU is there. Products of f32 are then exact unless a kernel asks for tf32, as Triton says of devices
    without tensor cores.
    """
    from triton import knobs
    from triton.compiler import compiler
    from triton.runtime.autotuner import Autotuner

    if alone and knobs.language.fp32_default is None:
        knobs.language.fp32_default = "ieee"
    compiler.AsmDict = _asm_dict(compiler.AsmDict)
    Autotuner.prune_configs = _distinct(Autotuner.prune_configs)


def _asm_dict(original: Any) -> type:
    """Return the class of ``kernel.asm``, which makes native code on request, as that takes as long as compiling a
    kernel."""

    class AsmDict(original):
        def __missing__(self, key: str) -> str:
            if key not in ("llvm", "asm") or "tileir" not in self:
                return str(super().__missing__(key))
            from tileir.triton.program import native_code

            self[key] = native_code(self["tileir"], key)
            return str(self[key])

    return AsmDict


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
