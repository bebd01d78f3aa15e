"""Visibility of values: an operation may use those defined before it, in its region or in one around it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from tileir.ir.attributes import DenseElements
from tileir.ir.core import Block, Module, Op, Value
from tileir.ir.diagnostics import Diagnostic, Note, Report
from tileir.ir.loc import Location
from tileir.ir.partial import POISON, PartialModule, Unread
from tileir.ir.traits import ISOLATED, TerminatedBy
from tileir.ir.types import Type
from tileir.ir.versions import Version
from tileir.ops.calls import Call, Func
from tileir.ops.core import GetGlobal
from tileir.ops.module import Entry, ModuleOp
from tileir.verify import hints, versions
from tileir.verify.bodies import body_around, effect_violation, shape_violation
from tileir.verify.debug import PLAIN, FunctionScope
from tileir.verify.items import item_violation
from tileir.verify.rule import CheckContext, Rule, Violation, listed, noted, value_loc
from tileir.verify.symbols import Symbols
from tileir.verify.table import CHECKS, Checks


def visibility_violation(op: Op, value: Value) -> tuple[str, Violation]:
    """Return the code and violation of an operand that is not visible at `op`."""
    what = _operand_text(op, value)
    definition = value.owner if isinstance(value.owner, Block) else value.owner.parent
    notes = noted("the value is defined here", value_loc(value))
    crossed: Op | None = None
    for block in _enclosing(op):
        if block is definition:
            return _out_of_reach(what, notes, crossed)
        if crossed is None and block.parent is not None and ISOLATED in block.parent.spec.traits:
            crossed = block.parent
    return "E0221", Violation(what, "a value of this region or of one around it", "a value of another region", notes)


def _out_of_reach(what: str, notes: tuple[Note, ...], crossed: Op | None) -> tuple[str, Violation]:
    if crossed is None:
        return "E0220", Violation(what, "a value that is defined before its use", "one that is defined later", notes)
    name = crossed.spec.name
    hint = f"hand the value over as an argument of the '{name}'" if name != "module" else None
    return "E0222", Violation(what, f"a value defined inside the '{name}'", "one from outside", notes, hint)


def _enclosing(op: Op) -> Iterator[Block]:
    block = op.parent
    while block is not None:
        yield block
        block = None if block.parent is None else block.parent.parent


def _operand_text(op: Op, value: Value) -> str:
    position = op.operands.index(value)
    begin = 0
    for operand, size in zip(op.spec.operands, op.segments):
        if position < begin + size:
            index = "" if operand.single or operand.optional else f"[{position - begin}]"
            return f"operand '{operand.name}{index}'"
        begin += size
    return f"operand {position}"


MAX_SHOWN = 100
"""The number of errors, and of warnings, that are reported; more errors end the walk."""

Verdict = tuple[Rule, ...]
"""Contextual rules: all that remains to be checked of an operation that was found sound."""


class _Full(Exception):
    """Raised when so many errors were found that more would not help."""


class Frame:
    """A block on the way: what is visible in it, and what surrounds it."""

    __slots__ = ("block", "body", "debug", "entered", "isolated", "misplaced", "ops", "pending", "sound", "visible")

    def __init__(self, block: Block, op: Op, outer: Frame | None) -> None:
        self.block = block
        self.ops = iter(block.ops)
        self.isolated = outer is None or op.spec.isolated
        self.visible: set[Value] = set() if outer is None or self.isolated else outer.visible
        self.sound: dict[object, Verdict] = {}
        self.body: Op | None = body_around(op, None if outer is None else outer.body)
        self.debug: FunctionScope | None = None if outer is None else outer.debug
        if isinstance(op, Entry | Func):
            self.debug = FunctionScope(op)
        self.pending: Op | None = None
        self.entered = False
        self.misplaced = False


class Verifier:
    """Verifies one module once."""

    def __init__(self, module: Module, level: Version, warn_hints: bool) -> None:
        self._module = module
        self._warn_hints = warn_hints
        self._context = CheckContext(level, Symbols(module.op))
        self._sound: dict[type[Op], dict[object, Verdict]] = {}
        self._seen_types: set[Type] = set()
        self._found: list[Diagnostic] = []
        self._counts = {"error": 0, "warning": 0}

    def run(self) -> Report:
        with suppress(_Full):
            self._walk(self._module.op)
        return Report([*map(self._marked, range(len(self._found)))], self._module.source)

    # ------------------------------------------------------------ walking

    def _walk(self, root: Op) -> None:
        self._inspect(root, None, None)
        frames = self._frames(root, None)
        while frames:
            op = self._scan(frames[-1])
            if op is None:
                self._leave(frames.pop())
            else:
                frames += self._frames(op, frames[-1])

    def _frames(self, op: Op, outer: Frame | None) -> list[Frame]:
        """Return a frame for each region of `op`, the first one last."""
        frames = [Frame(block, op, outer) for block in op.regions if block is not None]
        for frame in frames:
            frame.sound = self._sound.setdefault(op.__class__, {})
        return frames[::-1]

    def _scan(self, frame: Frame) -> Op | None:
        """Check the operations of a block up to the next one with regions; None at the end of the block."""
        visible, sound = frame.visible, frame.sound
        self._enter(frame)
        for op in frame.ops:
            if not visible.issuperset(op.operands):
                self._invisible(op, visible)
            key: object = _summary(op)
            try:
                verdict = sound.get(key)
            except TypeError:  # an attribute of a kind that cannot be hashed is not what was declared
                key = verdict = None
            if verdict is None:
                self._inspect(op, frame, key)
            elif verdict:
                self._again(op, frame, verdict)
            if op.origin.__class__ not in PLAIN:
                self._debug(op, frame)
            if frame.body is not None:
                self._in_body(op, frame.body)
            if op.regions:
                frame.pending = op
                return op
            defines = op.defines
            if isinstance(defines, tuple):
                visible.update(defines)
            else:
                visible.add(defines)
        return None

    def _enter(self, frame: Frame) -> None:
        """Begin a block, or go on behind an operation with regions."""
        if frame.pending is not None:
            frame.visible.update(frame.pending.results)
        if not frame.entered:
            frame.entered = True
            frame.visible.update(frame.block.args)
            self._argument_types(frame.block)

    def _leave(self, frame: Frame) -> None:
        self._terminator(frame)
        if not frame.isolated:
            frame.visible.difference_update(frame.block.args)
            for op in frame.block.ops:
                frame.visible.difference_update(op.results)

    # ------------------------------------------------------------ one operation

    def _inspect(self, op: Op, frame: Frame | None, key: object) -> None:
        """Apply all rules in order up to the first violation; remember an operation without one."""
        misplaced = None if frame is None else self._misplaced(op, frame)
        if misplaced is not None:
            self._context.unsound.add(op)
            self._report(*misplaced, op)
            return
        checks = CHECKS[op.__class__]
        for rule in checks.local:
            violation = rule.check(op, self._context)
            if violation is not None:
                if rule.structural:
                    self._context.unsound.add(op)
                self._report(rule.code, violation, op)
                return
        if frame is not None and key is not None and _can_come_again(op, checks) and not self._warns(op):
            frame.sound[key] = checks.contextual
        self._contextual(op, checks.contextual)

    def _again(self, op: Op, frame: Frame, verdict: Verdict) -> None:
        """Check what remains of an operation that was found sound elsewhere: also whether it may stand here."""
        if op.spec.terminator and op is not frame.block.ops[-1]:
            self._inspect(op, frame, None)
        else:
            self._contextual(op, verdict)

    def _contextual(self, op: Op, rules: Verdict) -> None:
        for rule in rules:
            violation = rule.check(op, self._context)
            if violation is not None:
                self._report(rule.code, violation, op)
                if rule.code[0] != "W":
                    return
        if self._warns(op):
            for code, violation in hints.warnings(op, self._context.level):
                self._report(code, violation, op)

    def _warns(self, op: Op) -> bool:
        return self._warn_hints and "optimization_hints" in op.attributes

    def _misplaced(self, op: Op, frame: Frame) -> tuple[str, Violation] | None:
        """Return the violation of an operation that cannot stand where it does, whatever it is made of."""
        if isinstance(frame.block.parent, ModuleOp):
            violation = item_violation(op)
            return None if violation is None else ("E0803", violation)
        if op.spec.terminator and op is not frame.block.ops[-1]:
            frame.misplaced = True
            return "E0214", Violation("must be the last operation of its block")
        return None

    def _invisible(self, op: Op, visible: set[Value]) -> None:
        for value in dict.fromkeys(op.operands):
            if value not in visible:
                self._report(*visibility_violation(op, value), op)

    def _debug(self, op: Op, frame: Frame) -> None:
        found = None if frame.debug is None else frame.debug.violation(op.loc)
        if found is not None:
            self._report(*found, op)

    def _in_body(self, op: Op, body: Op) -> None:
        for code, violation in (
            ("E0518", effect_violation(op, body, self._context)),
            ("E0472", shape_violation(op, body)),
        ):
            if violation is not None:
                self._report(code, violation, op)
                return

    # ------------------------------------------------------------ blocks

    def _argument_types(self, block: Block) -> None:
        for index, value in enumerate(block.args):
            if value.type not in self._seen_types:
                self._seen_types.add(value.type)
                self._argument_type(block, index, value)

    def _argument_type(self, block: Block, index: int, value: Value) -> None:
        for code, check in versions.TYPE_RULES:
            violation = check(f"argument {index}", value.type, self._context)
            if violation is not None and block.parent is not None:
                self._report(code, violation, block.parent, value_loc(value))

    def _terminator(self, frame: Frame) -> None:
        """E0215: a block ends with the terminator that its operation asks for."""
        parent, ops = frame.block.parent, frame.block.ops
        trait: TerminatedBy | None = None if parent is None else parent.spec.trait(TerminatedBy)
        if parent is None or trait is None or frame.misplaced:
            return
        last = ops[-1] if ops else None
        if last is not None and (last.spec.name in (trait.terminator, *trait.also) or self._is_refused(last)):
            return
        expected = listed(f"'{name}'" for name in (trait.terminator, *trait.also))
        violation = Violation("last operation of the body", expected, "none" if last is None else f"'{last.spec.name}'")
        notes = () if last is None else noted(f"of this '{parent.spec.name}'", parent.loc)
        self._report("E0215", replace(violation, notes=notes), parent, parent.loc if last is None else last.loc)

    def _is_refused(self, terminator: Op) -> bool:
        """Return whether a terminator that may not stand here at all has been reported for that."""
        return terminator.spec.terminator and terminator in self._context.unsound

    # ------------------------------------------------------------ reporting

    def _report(self, code: str, violation: Violation, op: Op, loc: Location | None = None) -> None:
        severity = "warning" if code[0] == "W" else "error"
        self._counts[severity] += 1
        if self._counts[severity] > MAX_SHOWN:
            if severity == "error":
                raise _Full
            return
        name = op.spec.name
        self._found.append(
            Diagnostic(
                code,
                violation.message(name),
                op.loc if loc is None else loc,
                violation.notes,
                violation.hint,
                severity,
                name,
                violation.expected,
                violation.got,
            )
        )

    def _marked(self, index: int) -> Diagnostic:
        """Return the diagnostic at `index`, with a note if it is the last shown of too many."""
        found = self._found[index]
        rest = (later.severity for later in self._found[index + 1 :])
        if self._counts[found.severity] <= MAX_SHOWN or found.severity in rest:
            return found
        note = Note(f"there are more than {MAX_SHOWN} {found.severity}s; the rest is not shown")
        return replace(found, notes=(*found.notes, note))


def _can_come_again(op: Op, checks: Checks) -> bool:
    """Return whether others like `op` need no further check: items must be unique, and a terminator must be the end."""
    return bool(checks.contextual) if op.regions or op.spec.terminator else True


def _summary(op: Op) -> object:
    """Return everything that the local rules look at, as a key."""
    operands = tuple([value.type for value in op.operands])
    defines = op.defines
    results = tuple([value.type for value in defines]) if isinstance(defines, tuple) else defines.type
    if not op.attributes and not op.regions:
        return op.__class__, op.segments, operands, results
    values: list[object] = [region is None for region in op.regions]
    for name, value in op.attributes.items():
        kind = value.__class__
        if kind is DenseElements:
            value = (value.type, len(value.data))
        elif kind is tuple:
            values.extend(map(type, value))
        values += (name, kind, value)
    return op.__class__, op.segments, operands, results, *values


# ---------------------------------------------------------------- programs that could be read only in part


class PartialVerifier(Verifier):
    """Verifies what was read of one module."""

    def __init__(self, partial: PartialModule, level: Version) -> None:
        super().__init__(partial.module, level, warn_hints=False)
        self._faulty = partial.faulty
        self._lacks_items = any(isinstance(item, Unread) or item in partial.faulty for item in partial.module.items)

    def _inspect(self, op: Op, frame: Frame | None, key: object) -> None:
        if self._is_open(op):
            self._context.unsound.add(op)
        else:
            super()._inspect(op, frame, key)

    def _is_open(self, op: Op) -> bool:
        """Return whether the operation is not known well enough to be checked."""
        if op in self._faulty or isinstance(op, Unread):
            return True
        if self._lacks_items and isinstance(op, Call | GetGlobal):
            return True
        return any(value.type is POISON for value in (*op.operands, *op.results))

    def _contextual(self, op: Op, rules: Verdict) -> None:
        if not self._is_open(op):
            super()._contextual(op, rules)

    def _misplaced(self, op: Op, frame: Frame) -> tuple[str, Violation] | None:
        return None if _ends_unread(frame) else super()._misplaced(op, frame)

    def _invisible(self, op: Op, visible: set[Value]) -> None:
        super()._invisible(op, visible.union(value for value in op.operands if value.type is POISON))

    def _debug(self, op: Op, frame: Frame) -> None:
        """Allow undefined aliases of locations."""

    def _in_body(self, op: Op, body: Op) -> None:
        if not self._is_open(op):
            super()._in_body(op, body)

    def _terminator(self, frame: Frame) -> None:
        if not _ends_unread(frame):
            super()._terminator(frame)


def _ends_unread(frame: Frame) -> bool:
    return bool(frame.block.ops) and isinstance(frame.block.ops[-1], Unread)
