"""TTIR of kernels, as Triton's compiler makes it without a GPU."""

from __future__ import annotations

import re
from typing import Any

from golden_kernels import Compiled

_PATH = re.compile(r'"[^"\n]*/(triton/language/[\w/]+\.py|[\w.]+\.py)"')


def ttir(compiled: Compiled, passes: bool = True) -> str:
    """The text of a kernel, after Triton's own passes or before; with paths that are the same everywhere.

    Products of f32 have Triton's own precision, whichever driver another test has chosen.
    """
    from triton import knobs

    with knobs.language.scope():
        knobs.language.fp32_default = None
        return _made(compiled, passes)


def _made(compiled: Compiled, passes: bool) -> str:
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    from triton.compiler.compiler import make_backend

    kernel = compiled.kernel
    places = {name: index for index, name in enumerate(kernel.arg_names)}
    attributes = {(places[name],): [["tt.divisibility", 16]] for name in compiled.aligned}
    source = ASTSource(kernel, compiled.signature, compiled.constexprs, attributes)
    target = GPUTarget("cuda", 90, 32)
    backend = make_backend(target)
    options = backend.parse_options({})
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    functions = backend.get_codegen_implementation(options)
    module = source.make_ir(target, options, functions, backend.get_module_map(), context)
    if passes:
        stages: dict[str, Any] = {}
        backend.add_stages(stages, options, source.language)
        module = stages["ttir"](module, {})
    return _PATH.sub(lambda match: f'"{match[1]}"', str(module))
