"""Views of memory (spec: types#top): tensors, and the ways to cut tiles from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from weakref import WeakValueDictionary

from tileir.ir.types.elements import I4, ElementType, InvalidType, PaddingValue, Type, interned
from tileir.ir.types.tiles import Dim, PointerAttr, TileType, dim_text, dims_prefix, dims_text, nearest_powers

MAX_I32 = (1 << 31) - 1


class TensorViewType(Type):
    """``tensor_view<?x16xf32, strides=[?,1]>``: a strided tensor in memory (spec: types#tensor-view).

    Extents and strides count elements; ``None`` is a dynamic entry.
    """

    __slots__ = ("attr", "element", "shape", "strides")
    element: ElementType
    shape: tuple[Dim, ...]
    strides: tuple[Dim, ...]
    attr: PointerAttr | None
    _table: WeakValueDictionary[object, TensorViewType] = WeakValueDictionary()

    def __new__(
        cls, element: Type, shape: Iterable[Dim], strides: Iterable[Dim], attr: PointerAttr | None = None
    ) -> TensorViewType:
        shape, strides = tuple(shape), tuple(strides)
        if not isinstance(element, ElementType) or element is I4:
            raise InvalidType("E0307", f"a tensor view holds numbers other than i4, got {element!r}")
        if len(shape) != len(strides):
            counts = f"{len(shape)} dimensions and {len(strides)} strides"
            raise InvalidType("E0308", f"expected as many strides as dimensions, got {counts}")
        for what, entries in (("dimensions", shape), ("strides", strides)):
            if any(entry is not None and not 0 < entry < 1 << 63 for entry in entries):
                listed = dims_text(entries)
                raise InvalidType("E0309", f"tensor view {what} must be positive 64-bit integers, got [{listed}]")
        fields = {"element": element, "shape": shape, "strides": strides, "attr": attr}
        return interned(cls, cls._table, (element, shape, strides, attr), fields)

    @property
    def text(self) -> str:
        strides = f", strides=[{','.join(map(dim_text, self.strides))}]" if self.rank else ""
        attr = "" if self.attr is None else f", #cuda_tile.ptr_attr<{self.attr.text}>"
        return f"tensor_view<{dims_prefix(self.shape)}{self.element.text}{strides}{attr}>"

    @property
    def rank(self) -> int:
        return len(self.shape)


class TileViewType(Type):
    """Base of the views that load and store tiles: partition, strided, gather/scatter (spec: types#tile-views)."""

    __slots__ = ("padding", "tensor_view", "tile", "tile_shape")
    mnemonic: str
    since: str
    tile_shape: tuple[int, ...]
    tensor_view: TensorViewType
    padding: PaddingValue | None
    tile: TileType
    """The type of the tile that a load gives and a store takes."""

    @property
    def text(self) -> str:
        padding = [] if self.padding is None else [f"padding_value = {self.padding.text}"]
        tile = f"tile=({'x'.join(map(str, self.tile_shape))})"
        parts = [tile, *self._steps_text(), *padding, self.tensor_view.text, *self._dims_text()]
        return f"{self.mnemonic}<{', '.join(parts)}>"

    def _steps_text(self) -> list[str]:
        """Return the parameter that says how tiles follow each other, if there is one."""
        return []

    def _dims_text(self) -> list[str]:
        """Return the parameter that says how tile dimensions lie in the tensor, unless it is left out."""
        in_order = self.tensor_dims == tuple(range(self.rank))
        return [] if in_order else [f"dim_map=[{', '.join(map(str, self.tensor_dims))}]"]

    def of_tensor(self, tensor_view: Type, padding: PaddingValue | None) -> TileViewType:
        """Return the view that cuts tiles in the same way from another tensor."""
        own = {name: getattr(self, name) for name in ("tile_shape", *type(self).__slots__)}
        make: Callable[..., TileViewType] = type(self)
        return make(tensor_view=tensor_view, padding=padding, **own)

    @property
    def rank(self) -> int:
        return len(self.tile_shape)

    @property
    def tensor_dims(self) -> tuple[int, ...]:
        """The tensor dimension of each tile dimension (spec: views#index-mapping)."""
        return tuple(range(self.rank))

    @property
    def tile_steps(self) -> tuple[int, ...]:
        """Elements that the tile moves by when its index grows by one, for each tile dimension."""
        return (1,) * self.rank

    @property
    def element(self) -> ElementType:
        return self.tensor_view.element


class PartitionViewType(TileViewType):
    """``partition_view``: the tensor cut into a grid of equal tiles.

    ``dim_map[i]`` is the tensor dimension that tile dimension i runs along.
    """

    __slots__ = ("dim_map",)
    mnemonic = "partition_view"
    since = "13.1"
    dim_map: tuple[int, ...]
    _table: WeakValueDictionary[object, PartitionViewType] = WeakValueDictionary()

    def __new__(
        cls,
        tile_shape: Iterable[int],
        tensor_view: Type,
        padding: PaddingValue | None = None,
        dim_map: Iterable[int] | None = None,
    ) -> PartitionViewType:
        shape = tuple(tile_shape)
        mapping = tuple(range(len(shape)) if dim_map is None else dim_map)
        fields = _view_fields(shape, tensor_view, padding, lambda view: _check_dim_map(mapping, len(shape)))
        return interned(cls, cls._table, (shape, tensor_view, padding, mapping), fields | {"dim_map": mapping})

    @property
    def tensor_dims(self) -> tuple[int, ...]:
        return self.dim_map

    @property
    def tile_steps(self) -> tuple[int, ...]:
        return self.tile_shape


class StridedViewType(TileViewType):
    """``strided_view`` (13.3): tiles that start every ``traversal_strides[i]`` elements.

    They may overlap or leave gaps.
    """

    __slots__ = ("dim_map", "traversal_strides")
    mnemonic = "strided_view"
    since = "13.3"
    traversal_strides: tuple[int, ...]
    dim_map: tuple[int, ...]
    _table: WeakValueDictionary[object, StridedViewType] = WeakValueDictionary()

    def __new__(
        cls,
        tile_shape: Iterable[int],
        traversal_strides: Iterable[int],
        tensor_view: Type,
        padding: PaddingValue | None = None,
        dim_map: Iterable[int] | None = None,
    ) -> StridedViewType:
        shape, traversal = tuple(tile_shape), tuple(traversal_strides)
        mapping = tuple(range(len(shape)) if dim_map is None else dim_map)
        fields = _view_fields(shape, tensor_view, padding, lambda view: _check_dim_map(mapping, len(shape)))
        if len(traversal) != len(shape):
            raise InvalidType("E0318", f"expected {len(shape)} traversal strides, got {len(traversal)}")
        if any(not 0 < step <= MAX_I32 for step in traversal):
            listed = dims_text(traversal)
            raise InvalidType("E0319", f"traversal strides must be positive 32-bit integers, got [{listed}]")
        fields |= {"traversal_strides": traversal, "dim_map": mapping}
        return interned(cls, cls._table, (shape, traversal, tensor_view, padding, mapping), fields)

    @property
    def tensor_dims(self) -> tuple[int, ...]:
        return self.dim_map

    @property
    def tile_steps(self) -> tuple[int, ...]:
        return self.traversal_strides

    def _steps_text(self) -> list[str]:
        return [f"traversal_strides=[{','.join(map(str, self.traversal_strides))}]"]


class GatherScatterViewType(TileViewType):
    """``gather_scatter_view`` (13.3): tile rows at arbitrary positions along ``sparse_dim``."""

    __slots__ = ("sparse_dim",)
    mnemonic = "gather_scatter_view"
    since = "13.3"
    sparse_dim: int
    _table: WeakValueDictionary[object, GatherScatterViewType] = WeakValueDictionary()

    def __new__(
        cls, tile_shape: Iterable[int], tensor_view: Type, sparse_dim: int, padding: PaddingValue | None = None
    ) -> GatherScatterViewType:
        shape = tuple(tile_shape)

        def check(view: TensorViewType) -> None:
            if not 0 <= sparse_dim < view.rank:
                raise InvalidType("E0317", f"sparse_dim must be in [0, {view.rank}), got {sparse_dim}")

        fields = _view_fields(shape, tensor_view, padding, check)
        return interned(cls, cls._table, (shape, tensor_view, sparse_dim, padding), fields | {"sparse_dim": sparse_dim})

    def _dims_text(self) -> list[str]:
        return [f"sparse_dim={self.sparse_dim}"]


def _view_fields(
    shape: tuple[int, ...],
    tensor_view: Type,
    padding: PaddingValue | None,
    check_dims: Callable[[TensorViewType], None],
) -> dict[str, object]:
    """Check the invariants common to tile views, in the specification's order, and return their fields."""
    if not shape:
        raise InvalidType("E0310", "a tile view needs a tile shape of at least one dimension")
    if not isinstance(tensor_view, TensorViewType):
        raise InvalidType("E0311", f"expected a tensor_view inside the view type, got {tensor_view!r}")
    if tensor_view.rank != len(shape):
        raise InvalidType(
            "E0312", f"expected tiles of the tensor view's rank {tensor_view.rank}, got tiles of rank {len(shape)}"
        )
    if any(not 0 < extent <= MAX_I32 for extent in shape):
        listed = dims_text(shape)
        raise InvalidType("E0313", f"tile dimensions of a view must be positive 32-bit integers, got [{listed}]")
    for extent in shape:
        if extent & (extent - 1):
            listed, hint = dims_text(shape), nearest_powers(extent)
            raise InvalidType("E0314", f"tile dimensions of a view must be powers of two, got [{listed}]", hint)
    check_dims(tensor_view)
    tile = TileType(shape, tensor_view.element)
    if padding is not None and padding is not PaddingValue.ZERO and not tensor_view.element.is_float:
        raise InvalidType(
            "E0316", f"padding_value {padding.text} needs floating-point elements, got {tensor_view.element.name}"
        )
    return {"tile_shape": shape, "tensor_view": tensor_view, "padding": padding, "tile": tile}


def _check_dim_map(dim_map: Sequence[int], rank: int) -> None:
    if len(dim_map) != rank:
        raise InvalidType("E0315", f"expected dim_map to map all {rank} tile dimensions, got {len(dim_map)} entries")
    for position, target in enumerate(dim_map):
        if not 0 <= target < rank:
            raise InvalidType("E0315", f"dim_map entries must be in [0, {rank}), got {target}")
        first = dim_map.index(target)
        if first != position:
            raise InvalidType(
                "E0315", f"dim_map maps dimension {target} twice, for tile dimensions {first} and {position}"
            )
