"""Programs whose strings would do harm wherever they are not escaped, one in every field that a program has."""

from __future__ import annotations

from tileir.text.numbers import string_text

STRINGS = {
    "newline": "a\nb\r\nc",
    "quotes": "a\"b'c`d\\22e\\",
    "nul": "a\0b",
    "terminal": "\x1b[31mred\x1b]0;title\x07\x9b2J\x08\x7f",
    "direction": "a\u202eb\u2066c\u2028d\u200be",
    "not UTF-8": "a\udcff\udc80b",
    "LLVM code": (
        'k"(ptr %x) { ret i32 0 }\ndefine i32 @"tileir.driver"(ptr %a, ptr %b) { ret i32 7 }\n'
        'define i32 @"tileir.kernel"(ptr %c'
    ),
    "MLIR code": 'k", tt.noinline = false}> ({}) : () -> () }\nmodule {"tt.func"() <{sym_name = "x',
    "PTX": 'k.ptx"\n.visible .entry other() { ret; }\n//',
    "a library's function": "__nv_sinf",
    "an LLVM intrinsic": "llvm.trap",
    "our own names": "tileir.kernel",
    "a path": "../../../../../../tmp/tileir-was-here",
    "a device": "/dev/zero",
    "formats": "%s %n %d %99999999d {0} {x!r} %%",
    "HTML": "<script>alert(1)</script>&amp;<!--",
    "markup": "[red]x[/red][link=http://x]y[/link] :smile:",
    "keyword": "add",
    "digits": "0",
    "very long": "n" * (1 << 17),
}

_SCOPES = """
#file = #cuda_tile.di_file<{s} in {s}>
#unit = #cuda_tile.di_compile_unit<file = #file>
#scope = #cuda_tile.di_subprogram<file = #file, line = 1, name = {s}, linkageName = {l}, compileUnit = #unit>
#here = #cuda_tile.di_loc<loc({s}:7:9) in #scope>
"""

_PROGRAM = """{scopes}
cuda_tile.module @{s} attributes {{{s} = {s}}} {{
  global @{g} <i32: 5> : tile<1xi32>
  {functions}
  entry @{l}(%p: tile<ptr<i32>>, %fails: tile<i1>) optimization_hints=<{s} = {{{s} = 1}}> {{
    %g = get_global @{g} : tile<ptr<i32>> loc(#here)
    %x, %t0 = load_ptr_tko weak %g : tile<ptr<i32>> -> tile<i32>, token loc({s}:3:4)
    {calls}
    %t1 = store_ptr_tko weak %p, %y : tile<ptr<i32>>, tile<i32> -> token loc({s}({s}:3:4))
    %t2 = print_tko {p} -> token loc(callsite(#here at {s}:1:1))
    %one = constant <i1: 1> : tile<i1>
    %holds = xori %fails, %one : tile<i1>
    assert %holds, {s} : tile<i1> loc(fused[{s}:8:9, #here])
    return loc(#here)
  }} loc(#here)
}}
"""

_FUNCTIONS = """experimental$func @{f}(%a: tile<i32>) -> tile<i32> {{
    %b = addi %a, %a : tile<i32> loc({s}:5:5)
    return %b : tile<i32>
  }}"""
_CALLS = """%c = experimental$call @{f}(%x) : (tile<i32>) -> tile<i32>
    %y = experimental$extern_elementwise %c """
_EXTERN = """{{libname = {s}, libpath = {s}, pure = true, symbol = {e}}} : (tile<i32>) -> tile<i32>"""
_PLAIN = "%y = addi %x, %x : tile<i32>"


def program(string: str, extended: bool = False) -> str:
    """A program that stores 10 at `%p` and prints `string`; with an assertion that fails if asked to.

    ``extended``: it also has what bytecode and GPUs lack, and calls a host function by that name, which is to add 1.
    """
    names = {
        "s": string_text(string),
        "l": string_text(string),
        "g": string_text(string + "g"),
        "f": string_text(string + "f"),
        "e": string_text(string),
        "p": string_text(string.replace("%", "%%")),
    }
    functions = _FUNCTIONS.format(**names) if extended else ""
    calls = _CALLS.format(**names) + _EXTERN.format(**names) if extended else _PLAIN
    return _PROGRAM.format(scopes=_SCOPES.format(**names), functions=functions, calls=calls, **names)


def harmless(text: str) -> bool:
    """Return whether a terminal shows `text` as it is, in lines of a length that people can read."""
    return all(line.replace("\t", " ").isprintable() and len(line) < 10_000 for line in text.split("\n"))
