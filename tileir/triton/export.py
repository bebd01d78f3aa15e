"""Tile IR of a kernel of Triton that is not launched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tileir.ir.escaping import type_name
from tileir.runtime.module import Module
from tileir.triton.arguments import CONSTEXPR

if TYPE_CHECKING:
    from tileir.triton.program import Stages


def to_tile_ir(
    kernel: Any,
    signature: str | Sequence[str] | Mapping[str, str],
    constexprs: Mapping[str, object] | None = None,
    **options: object,
) -> Module:
    """Compile a kernel for arguments of these types. Triton must be installed; no GPU is needed.

    Parameters
    ----------
    kernel : triton.JITFunction
        The kernel, also one that is tuned or has heuristics.
    signature : str, sequence or mapping
        The types of its parameters that are no constants, as Triton writes them: ``*fp32`` is a pointer, ``i32`` a
        number, ``*fp32:16`` a pointer that is divisible by 16; in order, separated by commas in a text, or by name.
    constexprs : mapping
        The values of its constants, by name; those that have a default may be left out.
    **options : object
        Options of a launch, such as ``enable_fp_fusion``.

    Returns
    -------
    Module
        The program, which is valid; its entry has the name of the kernel.

    Raises
    ------
    TypeError, ValueError
        For what is no kernel, or types or constants that do not fit it.
    DiagnosticError
        For what has no meaning without a GPU; Triton's own errors for what it refuses.
    """
    from tileir.triton.program import Stages, give_scopes

    stages = Stages()
    stages.tileir(*_simplified(stages, kernel, signature, constexprs, options))
    give_scopes(stages.module)
    return stages.module


def to_ttir(
    kernel: Any, signature: str | Sequence[str] | Mapping[str, str], constexprs: Mapping[str, object] | None = None
) -> str:
    """Return the kernel as TTIR, which `to_tile_ir` imports. Raises as that does."""
    from tileir.triton.program import Stages

    module, _ = _simplified(Stages(), kernel, signature, constexprs, {})
    return str(module.str())


def _simplified(
    stages: Stages,
    kernel: Any,
    signature: str | Sequence[str] | Mapping[str, str],
    constexprs: Mapping[str, object] | None,
    options: Mapping[str, object],
) -> tuple[Any, dict[str, Any]]:
    """Return what the stage `ttir` makes, and the metadata of the stage behind it."""
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    from tileir.triton.compiler import CpuBackend
    from tileir.triton.driver import NAME, WARP

    function = _function(kernel)
    target = GPUTarget(NAME, NAME, WARP)
    backend = CpuBackend(target)
    chosen = backend.parse_options(dict(options))
    types, attributes = _types(function, signature, dict(constexprs or {}))
    values = _constants(function, types, dict(constexprs or {}))
    source = ASTSource(function, types, values, attributes)
    context = ir.context()
    ir.load_dialects(context)
    functions = backend.get_codegen_implementation(chosen)
    module = source.make_ir(target, chosen, functions, backend.get_module_map(), context)
    metadata = {"target": target}
    return stages.ttir(module, metadata), metadata


def _function(kernel: Any) -> Any:
    """Return the function behind what tunes it, or guesses constants."""
    from triton.runtime.jit import JITFunction

    found = kernel
    while not isinstance(found, JITFunction):
        found = getattr(found, "fn", None)
        if found is None:
            raise TypeError(f"kernel: expected a function of @triton.jit, got {type_name(kernel)}")
    return found


def _types(
    function: Any, signature: str | Sequence[str] | Mapping[str, str], constexprs: dict[str, object]
) -> tuple[dict[str, str], dict[tuple[int, ...], list[list[object]]]]:
    """Return the type of each parameter by name, and what is known of its value."""
    constant = {one.name for one in function.params if one.is_constexpr} | constexprs.keys()
    wanted = [one.name for one in function.params if one.name not in constant]
    if not isinstance(signature, Mapping):
        given = [word.strip() for word in signature.split(",")] if isinstance(signature, str) else list(signature)
        if len(given) != len(wanted):
            what = f"signature: expected {len(wanted)} types, of {', '.join(wanted) or 'no parameter'}"
            raise ValueError(f"{what}, got {len(given)}")
        signature = dict(zip(wanted, given))
    missing = [name for name in wanted if name not in signature]
    if missing:
        raise ValueError(f"signature: expected a type of {', '.join(missing)}")
    types: dict[str, str] = {}
    attributes: dict[tuple[int, ...], list[list[object]]] = {}
    for index, one in enumerate(function.params):
        type, _, divisor = signature.get(one.name, CONSTEXPR).partition(":")
        types[one.name] = _known(one.name, type)
        if divisor:
            attributes[(index,)] = [["tt.divisibility", int(divisor)]]
    return types, attributes


def _known(name: str, type: str) -> str:
    from triton.language import str_to_ty

    try:
        if type != CONSTEXPR:
            str_to_ty(type, None)
    except (KeyError, ValueError, AssertionError):
        raise ValueError(f"signature: expected a type such as *fp32 or i32 for {name}, got {type!r}") from None
    return type


def _constants(function: Any, types: dict[str, str], constexprs: dict[str, object]) -> dict[str, object]:
    """Return the value of each constant."""
    unknown = constexprs.keys() - types.keys()
    if unknown:
        raise ValueError(f"constexprs: expected names of {', '.join(types)}, got {', '.join(sorted(unknown))}")
    for one in function.params:
        if types[one.name] == CONSTEXPR and one.name not in constexprs:
            if not one.has_default:
                raise ValueError(f"constexprs: expected a value of {one.name}")
            constexprs[one.name] = one.default
    return constexprs
