"""Modules and functions in LLVM's language: each usual instruction by one format, where llvmlite joins many pieces.

The text says the same as llvmlite's own, which is used for all other instructions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from llvmlite import ir
from llvmlite.ir import instructions as op

from tileir.cpu.llvm.engine import Host


class NativeModule(ir.Module):
    """A module of code for the processor `target`, which what emits code asks what instructions there are."""

    def __init__(self, name: str, target: Host) -> None:
        super().__init__(name)
        self.triple, self.target = target.triple, target


class NativeFunction(ir.Function):
    """A function that is written out faster."""

    def descr_body(self, buf: list[str]) -> None:
        """Add the text of the blocks to `buf`."""
        for block in self.blocks:
            buf.append(f"{block.get_reference()[1:]}:\n")
            buf += map(_line, block.instructions)


def _line(each: op.Instruction) -> str:
    written = _WRITTEN.get(type(each))
    if written is None:
        return f"  {each}\n"
    text = written(each)
    if each.metadata:
        text += "".join(f", !{kind} {node.get_reference()}" for kind, node in each.metadata.items())
    return f"  {text}\n" if type(each) in _NAMELESS else f"  {_name(each)} = {text}\n"


def _name(value: ir.Value) -> str:
    return f'%"{value.name}"' if isinstance(value, op.Instruction) else value.get_reference()


def _typed(values: list[ir.Value]) -> str:
    return ", ".join([f"{value.type} {_name(value)}" for value in values])


def _plain(each: op.Instruction) -> str:
    values = ", ".join([_name(value) for value in each.operands])
    return f"{_flagged(each.opname, each)} {each.type} {values}"


def _flagged(name: str, each: op.Instruction) -> str:
    return f"{name} {' '.join(each.flags)}" if each.flags else name


def _named(each: op.Instruction) -> str:
    return f"{each.opname} {_typed(each.operands)}"


def _compare(each: op.CompareInstr) -> str:
    left, right = each.operands
    name = _flagged(each.opname, each)
    return f"{name} {each.op} {left.type} {_name(left)}, {_name(right)}"


def _cast(each: op.CastInstr) -> str:
    return f"{each.opname} {_typed(each.operands)} to {each.type}"


def _load(each: op.LoadInstr) -> str:
    text = f"load {each.type}, ptr {_name(each.operands[0])}"
    return text if each.align is None else f"{text}, align {each.align}"


def _store(each: op.StoreInstr) -> str:
    value, place = each.operands
    text = f"store {value.type} {_name(value)}, ptr {_name(place)}"
    return text if each.align is None else f"{text}, align {each.align}"


def _address(each: op.GEPInstr) -> str:
    name = "getelementptr inbounds" if each.inbounds else "getelementptr"
    return f"{name} {each.source_etype}, ptr {_name(each.pointer)}, {_typed(each.indices)}"


def _phi(each: op.PhiInstr) -> str:
    ways = ", ".join([f"[{_name(value)}, {block.get_reference()}]" for value, block in each.incomings])
    return f"{_flagged('phi', each)} {each.type} {ways}"


def _select(each: op.SelectInstr) -> str:
    return f"{_flagged('select', each)} {_typed(each.operands)}"


_NAMELESS = frozenset({op.StoreInstr, op.Branch, op.ConditionalBranch})
_WRITTEN: Mapping[type[op.Instruction], Callable[..., str]] = MappingProxyType(
    {
        op.Instruction: _plain,
        op.ICMPInstr: _compare,
        op.FCMPInstr: _compare,
        op.CastInstr: _cast,
        op.LoadInstr: _load,
        op.StoreInstr: _store,
        op.GEPInstr: _address,
        op.PhiInstr: _phi,
        op.SelectInstr: _select,
        op.ShuffleVector: _named,
        op.InsertElement: _named,
        op.ExtractElement: _named,
        op.Branch: _named,
        op.ConditionalBranch: _named,
    }
)
