"""Kernels through tiles of pointers: those that become views, and those that may not.

Each has the parameters p and q (f32), r (i32), and n, m, s (i32): it reads p and stores to q.
"""

from __future__ import annotations

_HEAD = """\
cuda_tile.module @m {{
  entry @k(%p: tile<ptr<f32>>, %q: tile<ptr<f32>>, %r: tile<ptr<i32>>, %n: tile<i32>, %m: tile<i32>, %s: tile<i32>) {{
    %c0 = constant <i32: 0> : tile<i32>
    %c1 = constant <i32: 1> : tile<i32>
    %c3 = constant <i32: 3> : tile<i32>
    %c8 = constant <i32: 8> : tile<i32>
    %some_1003 = constant <i32: 1003> : tile<i32>
    %many = constant <i32: 4096> : tile<i32>
    %bx, %by, %bz = get_tile_block_id : tile<i32>
{body}
  }}
}}
"""


def kernel(body: str) -> str:
    """The text of a kernel with this body, line by line."""
    return _HEAD.format(body="\n".join(_line(line.strip()) for line in body.strip().splitlines()))


def _line(line: str) -> str:
    """``%x = all SHAPE %v : E`` repeats a scalar."""
    name, equals, rest = line.partition(" = all ")
    if not equals:
        return f"    {line}"
    shape, value, _, element = rest.split()
    ones = "x".join("1" for _ in shape.split("x"))
    return (
        f"    {name}_1 = reshape {value} : tile<{element}> -> tile<{ones}x{element}>\n"
        f"    {name} = broadcast {name}_1 : tile<{ones}x{element}> -> tile<{shape}x{element}>"
    )


def _through(shape: str, at: str, mask: str = "", padding: str = "", offsets: str = "i32") -> str:
    """Load from p at the offsets `at`, double, store to q at the same."""
    pointers, bits = f"tile<{shape}xptr<f32>>", f", tile<{shape}xi1>" if mask else ""
    more = f", tile<{shape}xf32>" if padding else ""
    return f"""
%ps = all {shape} %p : ptr<f32>
%qs = all {shape} %q : ptr<f32>
%pa = offset %ps, {at} : tile<{shape}xptr<f32>>, tile<{shape}x{offsets}> -> tile<{shape}xptr<f32>>
%qa = offset %qs, {at} : tile<{shape}xptr<f32>>, tile<{shape}x{offsets}> -> tile<{shape}xptr<f32>>
%v, %t = load_ptr_tko weak %pa{mask}{padding} : {pointers}{bits}{more} -> tile<{shape}xf32>, token
%w = addf %v, %v : tile<{shape}xf32>
store_ptr_tko weak %qa, %w{mask} token=%t : {pointers}, tile<{shape}xf32>{bits} -> token
"""


_BLOCK = """
%first = muli %bx, %c8 : tile<i32>
%firsts = all 8 %first : i32
%lanes = iota : tile<8xi32>
%index = addi %firsts, %lanes : tile<8xi32>
%ns = all 8 %n : i32
%mask = cmpi less_than %index, %ns, signed : tile<8xi32> -> tile<8xi1>
"""
_SOME = "%some = cmpi less_than %first, %n, signed : tile<i32> -> tile<i1>\nif %some {"

_OTHER = _SOME.replace("%n", "%m")


def _padded(value: str) -> str:
    pad = f"%pad = constant <f32: {value}> : tile<8xf32>"
    return f"{_BLOCK}\n{pad}\n{_SOME}\n{_through('8', '%index', ', %mask', ', %pad')}\n}}"


_PLANE = """
%rows = iota : tile<4xi32>
%rows_down = reshape %rows : tile<4xi32> -> tile<4x1xi32>
%columns = iota : tile<8xi32>
%along = reshape %columns : tile<8xi32> -> tile<1x8xi32>
%four = constant <i32: 4> : tile<i32>
%top = muli %bx, %four : tile<i32>
%left = muli %by, %c8 : tile<i32>
%tops = all 4x1 %top : i32
%lefts = all 1x8 %left : i32
%row = addi %tops, %rows_down : tile<4x1xi32>
%column = addi %lefts, %along : tile<1x8xi32>
%width = WIDTH
%strides = all 4x1 %width : i32
%starts = muli %row, %strides FLAG : tile<4x1xi32>
%starts_all = broadcast %starts : tile<4x1xi32> -> tile<4x8xi32>
%column_all = broadcast %column : tile<1x8xi32> -> tile<4x8xi32>
%index = addi %starts_all, %column_all FLAG : tile<4x8xi32>
%ns = all 4x1 %n : i32
%ms = all 1x8 %m : i32
%row_in = cmpi less_than %row, %ns, signed : tile<4x1xi32> -> tile<4x1xi1>
%column_in = cmpi greater_than %ms, %column, signed : tile<1x8xi32> -> tile<1x8xi1>
%row_mask = broadcast %row_in : tile<4x1xi1> -> tile<4x8xi1>
%column_mask = broadcast %column_in : tile<1x8xi1> -> tile<4x8xi1>
%mask = andi %row_mask, %column_mask : tile<4x8xi1>
%zero = constant <f32: 0.0> : tile<4x8xf32>
"""
_BOTH = """
%row_there = cmpi less_than %top, %n, signed : tile<i32> -> tile<i1>
%column_there = cmpi less_than %left, %m, signed : tile<i32> -> tile<i1>
%both = andi %row_there, %column_there : tile<i1>
if %both {
"""


def _plane(width: str = "assume bounded<1, ?>, %s : tile<i32>", flag: str = "overflow<no_signed_wrap>") -> str:
    body = _PLANE.replace("WIDTH", width).replace("FLAG", flag)
    return f"{body}{_BOTH}{_through('4x8', '%index', ', %mask', ', %zero')}\n}}"


def _loop(at: str, head: str = "for %i in (%c0 to %n, step %c8) : tile<i32> {", mask: str = ", %mask") -> str:
    return f"%lanes = iota : tile<8xi32>\n{head}\n{at}\n{_through('8', '%index', mask)}\n}}"


_BY_COUNTER = """
%firsts = all 8 %i : i32
%index = addi %firsts, %lanes overflow<no_signed_wrap> : tile<8xi32>
%ns = all 8 %n : i32
%mask = cmpi less_than %index, %ns, signed : tile<8xi32> -> tile<8xi1>
"""
_TOKENS = """
%lanes = iota : tile<8xi32>
%begin = make_token : token
%ps = all 8 %p : ptr<f32>
%qs = all 8 %q : ptr<f32>
%p0 = offset %ps, %lanes : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
%by_8 = constant <i32: 8> : tile<8xi32>
%e:2 = for %i in (%c0 to %c3, step %c1) : tile<i32>
iter_values(%t0 = %begin, %pa = %p0) -> (token, tile<8xptr<f32>>) {
%first = muli %i, %c8 : tile<i32>
%firsts = all 8 %first : i32
%index = addi %firsts, %lanes : tile<8xi32>
%ns = all 8 %n : i32
%mask = cmpi less_than %index, %ns, signed : tile<8xi32> -> tile<8xi1>
%qa = offset %qs, %index : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
%v, %t = load_ptr_tko weak %pa, %mask token=%t0 : tile<8xptr<f32>>, tile<8xi1> -> tile<8xf32>, token
%w = addf %v, %v : tile<8xf32>
%t1 = store_ptr_tko weak %qa, %w, %mask token=%t : tile<8xptr<f32>>, tile<8xf32>, tile<8xi1> -> token
%pn = offset %pa, %by_8 : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
continue %t1, %pn : token, tile<8xptr<f32>>
}
"""
_SEEN = "store_ptr_tko weak %r, %n : tile<ptr<i32>>, tile<i32> -> token"
_LEFT = """
%done = muli %i, %c8 : tile<i32>
%left = subi %n, %done overflow<no_signed_wrap> : tile<i32>
%lefts = all 8 %left : i32
%mask = cmpi less_than %lanes, %lefts, signed : tile<8xi32> -> tile<8xi1>
"""
_ADVANCED = f"""
%lanes = iota : tile<8xi32>
%ps = all 8 %p : ptr<f32>
%qs = all 8 %q : ptr<f32>
%p0 = offset %ps, %lanes : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
%q0 = offset %qs, %lanes : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
%by_8 = constant <i32: 8> : tile<8xi32>
%turns = divi %n, %c8 signed rounding<positive_inf> : tile<i32>
%e:2 = for %i in (%c0 to %turns, step %c1) : tile<i32>
iter_values(%pa = %p0, %qa = %q0) -> (tile<8xptr<f32>>, tile<8xptr<f32>>) {{
{_LEFT}
%v, %t = load_ptr_tko weak %pa, %mask : tile<8xptr<f32>>, tile<8xi1> -> tile<8xf32>, token
%w = addf %v, %v : tile<8xf32>
store_ptr_tko weak %qa, %w, %mask token=%t : tile<8xptr<f32>>, tile<8xf32>, tile<8xi1> -> token
%pn = offset %pa, %by_8 : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
%qn = offset %qa, %by_8 : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
continue %pn, %qn : tile<8xptr<f32>>, tile<8xptr<f32>>
}}
"""
_CUBE = """
%lanes = iota : tile<4xi32>
%i = reshape %lanes : tile<4xi32> -> tile<4x1x1xi32>
%j = reshape %lanes : tile<4xi32> -> tile<1x4x1xi32>
%twos = iota : tile<2xi32>
%k = reshape %twos : tile<2xi32> -> tile<1x1x2xi32>
%i_all = broadcast %i : tile<4x1x1xi32> -> tile<4x4x2xi32>
%j_all = broadcast %j : tile<1x4x1xi32> -> tile<4x4x2xi32>
%k_all = broadcast %k : tile<1x1x2xi32> -> tile<4x4x2xi32>
%eight = constant <i32: 8> : tile<4x4x2xi32>
%two = constant <i32: 2> : tile<4x4x2xi32>
%i8 = muli %i_all, %eight : tile<4x4x2xi32>
%j2 = muli %j_all, %two : tile<4x4x2xi32>
%ij = addi %i8, %j2 : tile<4x4x2xi32>
%index = addi %ij, %k_all : tile<4x4x2xi32>
%n1 = assume bounded<1, ?>, %n : tile<i32>
%ns = all 4x4x2 %n1 : i32
%mask = cmpi less_than_or_equal %i_all, %ns, signed : tile<4x4x2xi32> -> tile<4x4x2xi1>
"""
_PERMUTED = """
%lanes = iota : tile<8xi32>
%a = reshape %lanes : tile<8xi32> -> tile<8x1xi32>
%a_all = broadcast %a : tile<8x1xi32> -> tile<8x8xi32>
%b_all = permute %a_all [1, 0] : tile<8x8xi32> -> tile<8x8xi32>
%eight = constant <i32: 8> : tile<8x8xi32>
%b8 = muli %b_all, %eight : tile<8x8xi32>
%index = addi %a_all, %b8 : tile<8x8xi32>
%m1 = assume bounded<1, 8>, %m : tile<i32>
%ms = all 8x8 %m1 : i32
%mask = cmpi less_than %b_all, %ms, unsigned : tile<8x8xi32> -> tile<8x8xi1>
"""
_WIDE = """
%first = muli %bx, %c8 : tile<i32>
%lanes = iota : tile<8xi32>
%lanes64 = exti %lanes unsigned : tile<8xi32> -> tile<8xi64>
%first64 = exti %first signed : tile<i32> -> tile<i64>
%firsts = all 8 %first64 : i64
%index = addi %firsts, %lanes64 : tile<8xi64>
%n64 = exti %n signed : tile<i32> -> tile<i64>
%ns = all 8 %n64 : i64
%mask = cmpi less_than %index, %ns, signed : tile<8xi64> -> tile<8xi1>
%some = cmpi less_than %first64, %n64, signed : tile<i64> -> tile<i1>
if %some {
"""

_RAISED = {
    "whole": "%index = iota : tile<8xi32>" + _through("8", "%index"),
    "blocks": f"{_BLOCK}\n{_SOME}\n{_through('8', '%index', ', %mask')}\n}}",
    "far blocks": f"{_BLOCK}\n{_SOME}\n{_through('8', '%index', ', %mask')}\n}}".replace("%c8", "%many"),
    "zeros": _padded("0.0"),
    "negative zeros": _padded("-0.0"),
    "infinities": _padded("0x7F800000"),
    "negative infinities": _padded("0xFF800000"),
    "nan": _padded("0x7FC00000"),
    "guarded": f"{_BLOCK}\n{_through('8', '%index', ', %mask')}",
    "guarded plane": _plane().replace(_BOTH, "").removesuffix("}"),
    "guarded turns": _TOKENS,
    "plane": _plane(),
    "plane of known width": _plane("constant <i32: 24> : tile<i32>"),
    "counter": _loop(_BY_COUNTER),
    "rest": _ADVANCED,
    "wide numbers": _WIDE + _through("8", "%index", ", %mask", offsets="i64") + "}",
    "cube": _CUBE + _through("4x4x2", "%index", ", %mask"),
    "permuted": _PERMUTED + _through("8x8", "%index", ", %mask"),
}
RAISED: dict[str, str] = {name: kernel(body) for name, body in _RAISED.items()}
"""Kernels all of whose accesses become views."""

_KEPT = {
    "may be empty": f"{_BLOCK}\n{_through('8', '%index', ', %mask')}\n{_SEEN}",
    "two masks": _BLOCK + _through("8", "%index", ", %mask") + """
        %ms = all 8 %m : i32
        %other = cmpi less_than %index, %ms, signed : tile<8xi32> -> tile<8xi1>
        store_ptr_tko weak %pa, %v, %other : tile<8xptr<f32>>, tile<8xf32>, tile<8xi1> -> token
        """,
    "prints": f"{_BLOCK}\n{_through('8', '%index', ', %mask')}\nprint_tko \"%d\", %n : tile<i32> -> token",
    "returns early": f"""{_BLOCK}
        %none = cmpi equal %n, %m, signed : tile<i32> -> tile<i1>
        if %none {{
        return
        }}
        {_through('8', '%index', ', %mask')}""",
    "may wrap": _plane(flag=""),
    "stride may be 0": _plane("assume bounded<0, ?>, %s : tile<i32>"),
    "stride may be negative": _plane("addi %s, %c0 : tile<i32>"),
    "steps backwards": """
        %lanes = iota : tile<8xi32>
        %seven = constant <i32: 7> : tile<8xi32>
        %index = subi %seven, %lanes : tile<8xi32>
        """ + _through("8", "%index"),
    "stays in place": "%index = constant <i32: 2> : tile<8xi32>" + _through("8", "%index"),
    "other padding": _padded("1.0").split("store_ptr")[0] + "}",
    "lower bound": """
        %index = iota : tile<8xi32>
        %ns = all 8 %n : i32
        %mask = cmpi greater_than %index, %ns, signed : tile<8xi32> -> tile<8xi1>
        """ + _through("8", "%index", ", %mask"),
    "every second": """
        %index = iota : tile<8xi32>
        %ones = constant <i32: 1> : tile<8xi32>
        %odd = andi %index, %ones : tile<8xi32>
        %mask = cmpi equal %odd, %ones, signed : tile<8xi32> -> tile<8xi1>
        """ + _through("8", "%index", ", %mask"),
    "another bound is known": f"{_BLOCK}\n{_OTHER}\n{_through('8', '%index', ', %mask')}\n{_SEEN}\n}}",
    "in the other branch": f"{_BLOCK}\n{_SOME}\n}} else {{\n{_through('8', '%index', ', %mask')}\n{_SEEN}\n}}",
    "blocks of any size": f"{_BLOCK}\n{_SOME}\n{_through('8', '%index', ', %mask')}\n}}".replace(
        "muli %bx, %c8", "muli %bx, %some_1003"
    ),
    "strong": """
        %index = iota : tile<8xi32>
        """ + _through("8", "%index").replace("tko weak", "tko relaxed device"),
}  # fmt: skip
KEPT: dict[str, str] = {name: kernel(body) for name, body in _KEPT.items()}
"""Kernels none of whose accesses do."""

_ROWS = """
%lanes = iota : tile<4xi32>
%rs = all 4 %r : ptr<i32>
%ra = offset %rs, %lanes : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
%ns = all 4 %n : i32
%there = cmpi less_than %lanes, %ns, signed : tile<4xi32> -> tile<4xi1>
%given, %t0 = load_ptr_tko weak %ra : tile<4xptr<i32>> -> tile<4xi32>, token
%rows = KNOWN
%down = reshape %rows : tile<4xi32> -> tile<4x1xi32>
%width = WIDTH
%widths = all 4x1 %width : i32
%starts = muli %down, %widths FLAG : tile<4x1xi32>
%starts_all = broadcast %starts : tile<4x1xi32> -> tile<4x8xi32>
%columns = iota : tile<8xi32>
%along = reshape %columns : tile<8xi32> -> tile<1x8xi32>
%column = broadcast %along : tile<1x8xi32> -> tile<4x8xi32>
%index = addi %starts_all, %column FLAG : tile<4x8xi32>
%there_down = reshape %there : tile<4xi1> -> tile<4x1xi1>
%row_mask = broadcast %there_down : tile<4x1xi1> -> tile<4x8xi1>
%m1 = COUNT
%ms = all 1x8 %m1 : i32
%inside = cmpi less_than %along, %ms, signed : tile<1x8xi32> -> tile<1x8xi1>
%column_mask = broadcast %inside : tile<1x8xi1> -> tile<4x8xi1>
%mask = andi %row_mask, %column_mask : tile<4x8xi1>
%zero = constant <f32: 0.0> : tile<4x8xf32>
"""
_NOT_NEGATIVE = "assume bounded<0, ?>, %given : tile<4xi32>"
_POSITIVE = "assume bounded<1, ?>, {} : tile<i32>"


def _table(
    rows: str = _NOT_NEGATIVE,
    width: str = _POSITIVE.format("%s"),
    count: str = _POSITIVE.format("%m"),
    flag: str = "overflow<no_signed_wrap>",
) -> str:
    text = _ROWS.replace("KNOWN", rows).replace("WIDTH", width).replace("COUNT", count).replace("FLAG", flag)
    return kernel(text + _through("4x8", "%index", ", %mask", ", %zero"))


GATHERED: dict[str, str] = {
    "rows": _table(),
    "rows of known width": _table(width="constant <i32: 24> : tile<i32>"),
    "few rows": _table("andi %given, %sevens : tile<4xi32>", "constant <i32: 24> : tile<i32>", flag="").replace(
        "%rows =", "%sevens = constant <i32: 7> : tile<4xi32>\n%rows ="
    ),
}
"""Kernels that read and write rows of 4 x 8 elements named by r, as gather views can."""

NOT_GATHERED: dict[str, str] = {
    "rows may be negative": _table("addi %given, %lanes : tile<4xi32>"),
    "rows may wrap": _table(flag=""),
    "no column may be there": _table(count="addi %m, %c0 : tile<i32>"),
    "width may be 0": _table(width="addi %s, %c0 : tile<i32>"),
    "rows are moved before they are multiplied": _table()
    .replace(
        "muli %down",
        "muli %further",
    )
    .replace(
        "%starts =",
        "%blocks = reshape %bx : tile<i32> -> tile<1x1xi32>\n"
        "%moved = broadcast %blocks : tile<1x1xi32> -> tile<4x1xi32>\n"
        "%further = addi %down, %moved overflow<no_signed_wrap> : tile<4x1xi32>\n%starts =",
    ),
}
"""Kernels whose rows they cannot."""
