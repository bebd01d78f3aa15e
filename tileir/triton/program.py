"""From a kernel of Triton to what its cache keeps: TTIR, Tile IR as text, Tile IR as it is loaded again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, NoReturn

from tileir.ir import loc as l
from tileir.ir.core import Op
from tileir.ir.diagnostics import DiagnosticError, UnsupportedError
from tileir.runtime.loading import from_content, from_text, parse
from tileir.runtime.module import Kernel, Module

Metadata = dict[str, Any]
_PACKAGE = Path(__file__).parents[1]
_MAKERS = ("ir", "ops", "numerics", "analysis", "text", "bytecode", "triton")
"""The parts of the package on which the stages depend."""
_MOST_KNOWN = 256


class Stages:
    """The stages of one kernel, which are made in this order."""

    module: Module
    """The result of the stage `tileir`."""

    def ttir(self, module: Any, metadata: Metadata) -> Any:
        """Simplify what Triton's front end has made, with its own passes."""
        from triton._C.libtriton import ir, passes

        manager = ir.pass_manager(module.context)
        manager.enable_debug()
        passes.common.add_inliner(manager)
        passes.common.add_canonicalizer(manager)
        passes.ttir.add_combine(manager)
        passes.ttir.add_reorder_broadcast(manager)
        passes.common.add_cse(manager)
        passes.common.add_symbol_dce(manager)
        manager.run(module, "make_ttir")
        return module

    def tileir(self, module: Any, metadata: Metadata) -> str:
        """Import TTIR. Raises DiagnosticError at the line of the Python file for what is refused."""
        from tileir.text.printer import to_text

        metadata["name"] = module.get_entry_func_name()
        # Triton's launches ask for these; scripts divide by them.
        metadata["shared"], metadata["warp_size"] = 1, metadata["target"].warp_size
        self.module = from_text(module.str(), metadata["name"])
        self.module.require_valid()
        return to_text(self.module, debug=True)

    def loaded(self, text: str, metadata: Metadata) -> bytes:
        """Put the program in the form that is read again fastest."""
        from tileir.bytecode import encode

        give_scopes(self.module)
        try:
            content = encode(self.module)
        except DiagnosticError:  # an extension, which has no bytecode
            content = text.encode()
        _remember(content, self.module)
        return content


def refuse_gluon() -> NoReturn:
    what = "a kernel of Gluon: its layouts, barriers and copies are those of a GPU; expected a kernel of @triton.jit"
    raise UnsupportedError(what, "cpu")


@cache
def version() -> str:
    """Return a digest of everything that the results of the stages depend on besides the kernel and its options."""
    digest = hashlib.sha256()
    for part in _MAKERS:
        for path in sorted(str(path) for path in (_PACKAGE / part).rglob("*.py")):
            with open(path, "rb", buffering=0) as file:
                digest.update(file.read())
    return f"tileir-{digest.hexdigest()}"


# ---------------------------------------------------------------- loading

_known: dict[bytes, Module] = {}
"""Modules that this process has made, by their content: the first launch need not read them."""


def _remember(content: bytes, module: Module) -> None:
    if len(_known) >= _MOST_KNOWN:
        _known.clear()
    _known[content] = module


def loaded_kernel(content: bytes, name: str) -> Kernel:
    """Return the kernel `name` of what `Stages.loaded` has made, in this process or in another one."""
    module = _known.pop(content, None)
    return (from_content(content, name) if module is None else module)[name]


def native_code(text: str, form: str) -> str:
    """Return LLVM's language, or assembly, of what the stage `tileir` has made."""
    from tileir.cpu.emit.record import CheckLevel
    from tileir.cpu.llvm.engine import assembly, host, optimized_text
    from tileir.cpu.run.program import lowered
    from tileir.runtime.exact import exact_kernel

    (kernel,) = (exact_kernel(one, native=True) for one in parse(text).kernels.values())
    made = lowered(kernel.entry, tuple(kernel.module.globals.addresses), CheckLevel.ON)
    return {"llvm": optimized_text, "asm": assembly}[form](str(made.module), host())


# ---------------------------------------------------------------- locations


def relocate(kernel: Kernel, file: str) -> None:
    """Let the places of a kernel be in `file`: Triton's cache holds one kernel for all files with the same text."""
    place = l.file_position(kernel.entry.loc)
    if isinstance(place, l.FileLoc) and place.file != file:
        moved = {place.file: file}
        _map_locations(kernel.entry, lambda loc: _moved(loc, moved))


def _moved(loc: l.Location, files: dict[str, str]) -> l.Location:
    if isinstance(loc, l.CallSiteLoc):
        return l.CallSiteLoc(_moved(loc.callee, files), _moved(loc.caller, files))
    place = l.file_position(loc)
    if not isinstance(place, l.FileLoc):
        return loc
    return replace(place, file=files.get(place.file, place.file))


def give_scopes(module: Module) -> None:
    """Give each location the debug scope that bytecode wants: the function that it is in."""
    for item in module.items:
        place = l.file_position(item.loc)
        if isinstance(place, l.FileLoc):
            path = Path(place.file)
            file = l.DIFile(path.name, str(path.parent))
            name = str(item.attributes["sym_name"])
            scope = l.DISubprogram(file, place.line, name, name, l.DICompileUnit(file), place.line)
            _map_locations(item, partial(_scoped, scope))


def _scoped(scope: l.DISubprogram, loc: l.Location) -> l.Location:
    if isinstance(loc, l.CallSiteLoc):
        return l.CallSiteLoc(_scoped(scope, loc.callee), _scoped(scope, loc.caller))
    place = l.file_position(loc)
    return l.DILoc(place, scope) if isinstance(place, l.FileLoc) else loc


def _map_locations(item: Op, change: Callable[[l.Location], l.Location]) -> None:
    """Change the locations of all operations; each is changed once."""
    known: dict[l.Location, l.Location] = {}
    for op in item.walk():
        found = known.get(op.loc)
        if found is None:
            found = known[op.loc] = change(op.loc)
        op.loc = found
