"""How types are spelled in canonical text and in messages (specification 4.8).

Knows: the short form of every type, and the full ``!cuda_tile.`` form used outside custom assembly.
Does not know: how text is read (`text.parser`).
"""

from __future__ import annotations

from tileir.ir.types import (
    Dim,
    ElementType,
    FunctionType,
    GatherScatterViewType,
    PartitionViewType,
    PointerAttr,
    PointerType,
    StridedViewType,
    TensorViewType,
    TileType,
    TileViewType,
    TokenType,
    Type,
)

_DIALECT = "!cuda_tile."


def type_text(type: Type, full: bool = False) -> str:
    """The canonical spelling of `type`; with `full` the outermost dialect type carries its prefix."""
    if isinstance(type, ElementType):
        return type.name
    if isinstance(type, FunctionType):
        return _function_text(type)
    return (_DIALECT if full else "") + _short(type)


def types_text(types: tuple[Type, ...] | list[Type], full: bool = False) -> str:
    return ", ".join(type_text(type, full) for type in types)


def _short(type: Type) -> str:
    if isinstance(type, TileType):
        return f"tile<{_dims(type.shape)}{type_text(type.element)}>"
    if isinstance(type, PointerType):
        attr = "" if type.attr is None else f", <{type.attr.text}>"
        return f"ptr<{type_text(type.pointee)}{attr}>"
    if isinstance(type, TokenType):
        return "token"
    if isinstance(type, TensorViewType):
        return _tensor_view_text(type)
    if isinstance(type, TileViewType):
        return _tile_view_text(type)
    raise AssertionError(f"no spelling for {type.__class__.__name__}")


def _tensor_view_text(type: TensorViewType) -> str:
    strides = f", strides=[{','.join(_dim(stride) for stride in type.strides)}]" if type.rank else ""
    return f"tensor_view<{_dims(type.shape)}{type_text(type.element)}{strides}{_pointer_attr(type.attr)}>"


def _tile_view_text(type: TileViewType) -> str:
    parts = [f"tile=({'x'.join(map(str, type.tile_shape))})"]
    if isinstance(type, StridedViewType):
        parts.append(f"traversal_strides=[{','.join(map(str, type.traversal_strides))}]")
    if type.padding is not None:
        parts.append(f"padding_value = {type.padding.text}")
    parts.append(type_text(type.tensor_view))
    if isinstance(type, GatherScatterViewType):
        parts.append(f"sparse_dim={type.sparse_dim}")
    elif isinstance(type, PartitionViewType | StridedViewType) and type.dim_map != tuple(range(type.rank)):
        parts.append(f"dim_map=[{', '.join(map(str, type.dim_map))}]")
    return f"{type.mnemonic}<{', '.join(parts)}>"


def _pointer_attr(attr: PointerAttr | None) -> str:
    return "" if attr is None else f", #cuda_tile.ptr_attr<{attr.text}>"


def _function_text(type: FunctionType) -> str:
    results = types_text(type.results, full=True)
    if len(type.results) != 1 or isinstance(type.results[0], FunctionType):
        results = f"({results})"
    return f"({types_text(type.inputs, full=True)}) -> {results}"


def _dims(shape: tuple[Dim, ...]) -> str:
    return "".join(f"{_dim(extent)}x" for extent in shape)


def _dim(entry: Dim) -> str:
    return "?" if entry is None else str(entry)
