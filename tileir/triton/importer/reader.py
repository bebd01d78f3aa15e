"""TTIR text as a tree of operations.

Most operations are read in one way, whatever their syntax: values in front of the types are operands, words stay words,
braces hold attributes, and types stand behind the colon. Those with regions or successors have syntax of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import TypeVar

from tileir.ir.diagnostics import DiagnosticError
from tileir.ir.loc import UNKNOWN, Location, Source, SourceLoc
from tileir.triton.importer.attributes import HINT, AttributeReader
from tileir.triton.importer.faults import LATER, REFUSED, SYNTAX, ImportFault
from tileir.triton.importer.lexer import END
from tileir.triton.importer.syntax import (
    MlirArgument,
    MlirBlock,
    MlirFunction,
    MlirOperation,
    MlirScalar,
    MlirSignature,
    Region,
    Successor,
    Use,
)

YIELD = "scf.yield"
T = TypeVar("T")


def read(source: Source) -> list[MlirFunction]:
    """Return the functions of a module. Raises `DiagnosticError`."""
    try:
        return TtirReader(source).module()
    except ImportFault as fault:
        raise DiagnosticError([fault.diagnostic()], source) from None


class TtirReader(AttributeReader):
    """Reads one text."""

    # ------------------------------------------------------------ module and functions

    def module(self) -> list[MlirFunction]:
        """Return the functions of the text, whether a module is written around them or not."""
        tokens, functions = self.tokens, []
        self._skip_aliases()
        wrapped = tokens.accept("module") or tokens.accept("builtin.module")
        if wrapped:
            if tokens.kind == "symbol":
                tokens.index += 1
            if tokens.accept("attributes"):
                self.attributes()
            tokens.expect("{")
        while tokens.text in ("tt.func", '"tt.func"'):
            functions.append(self.function())
        if wrapped:
            tokens.expect("}")
            self.locations.reference()
        self._skip_aliases()
        if tokens.kind != END or not functions:
            tokens.expected("'tt.func'")
        return functions

    def _skip_aliases(self) -> None:
        """Pass over definitions of aliases, which `Locations` has found; those of layouts are not of TTIR."""
        tokens = self.tokens
        while tokens.kind == "alias":
            place, name = tokens.place(), tokens.text
            tokens.index += 1
            tokens.expect("=")
            if tokens.text[1:].startswith(LATER):
                raise ImportFault(REFUSED, f"expected TTIR, got a later stage: the layout {name}", place, HINT)
            if tokens.text == "loc":
                self.locations.reference()
            else:
                self.attribute()

    def function(self) -> MlirFunction:
        tokens = self.tokens
        offset = tokens.offset
        if tokens.kind == "string":
            return self._generic_function()
        tokens.expect("tt.func")
        end = offset + len("tt.func")
        visibility = tokens.text if tokens.text in ("public", "private", "nested") else "public"
        tokens.index += tokens.text == visibility
        symbol = self.symbol()
        arguments = self.arguments(")") if tokens.accept("(") else tokens.expected("'('")
        results = self.types_or_one() if tokens.accept("->") else ()
        attributes = self.attributes() if tokens.accept("attributes") else {}
        function = MlirFunction("tt.func", offset, end, result_types=results, attributes=attributes)
        function.symbol, function.public, function.arguments = symbol, visibility == "public", arguments
        if tokens.text != "{":
            raise ImportFault(REFUSED, f"expected a body of @{symbol}, which is only declared", tokens.place(offset))
        function.regions.append(self.region())
        return self.located(function)

    def _generic_function(self) -> MlirFunction:
        """``"tt.func"() <{sym_name = "k", ...}> ({^bb0(%x: T): ...}) : () -> ()``."""
        made = self.operation()
        name, attributes = made.attributes.get("sym_name"), made.attributes.get("arg_attrs", ())
        if not isinstance(name, str) or len(made.regions) != 1 or not isinstance(attributes, tuple):
            raise ImportFault(SYNTAX, "expected a name and a body", self.tokens.place(made.offset))
        signature = made.attributes.get("function_type")
        function = MlirFunction(made.name, made.offset, made.end, attributes=made.attributes, regions=made.regions)
        function.symbol, function.public = name, made.attributes.get("sym_visibility", "public") == "public"
        function.result_types = signature.results if isinstance(signature, MlirSignature) else ()
        arguments = made.regions[0][0].arguments
        given = [one for one in attributes if isinstance(one, dict)]
        given += [{} for _ in arguments]
        function.arguments = tuple(one._replace(attributes=own) for one, own in zip(arguments, given))
        function.loc = made.loc
        return function

    def arguments(self, close: str) -> tuple[MlirArgument, ...]:
        """Return arguments with their types up to the token `close`."""
        return tuple(self.list_of(self.argument, close))

    def argument(self) -> MlirArgument:
        tokens = self.tokens
        place = tokens.place()
        name = tokens.take("value", "an argument such as %x")
        tokens.expect(":")
        type = self.type()
        attributes = self.attributes() if tokens.text == "{" else {}
        return MlirArgument(name, type, self.locations.reference() or place, attributes)

    # ------------------------------------------------------------ regions

    def region(self, arguments: tuple[MlirArgument, ...] = ()) -> Region:
        """Return blocks in braces; the first one has the arguments that the operation has named already."""
        with self.nested():
            self.tokens.expect("{")
            blocks = [MlirBlock(arguments=arguments)]
            while not self.tokens.accept("}"):
                if self.tokens.kind == "label":
                    self._begin_block(blocks)
                else:
                    blocks[-1].operations.append(self.operation())
            return blocks

    def yielding_region(self, arguments: tuple[MlirArgument, ...] = ()) -> Region:
        """Read a region whose final ``scf.yield`` of nothing is not written."""
        found = self.region(arguments)
        last = found[-1].operations[-1] if found[-1].operations else None
        if len(found) == 1 and (last is None or last.name != YIELD):
            end = self.tokens.offset
            ended = MlirOperation(YIELD, end, end)
            ended.loc = UNKNOWN if last is None else last.loc
            found[0].operations.append(ended)
        return found

    def _begin_block(self, blocks: list[MlirBlock]) -> None:
        tokens = self.tokens
        block = MlirBlock(tokens.take("label", "a block"))
        if tokens.accept("("):
            block.arguments = self.arguments(")")
        tokens.expect(":")
        if len(blocks) == 1 and not blocks[0].operations and not blocks[0].label:
            block.arguments = block.arguments or blocks[0].arguments
            blocks.clear()
        blocks.append(block)

    # ------------------------------------------------------------ operations

    def operation(self) -> MlirOperation:
        try:
            return self._operation()
        except ImportFault as fault:
            if fault.code == REFUSED and isinstance(fault.loc, SourceLoc):
                fault.loc = self._place_in_python() or fault.loc
            raise

    def _place_in_python(self) -> Location | None:
        """Return the location that is written behind the next token, on its line."""
        tokens = self.tokens
        end = self.source.text.find("\n", tokens.offset)
        while tokens.kind != END and (end < 0 or tokens.offset < end):
            if tokens.text == "loc":
                return self.locations.reference()
            tokens.index += 1
        return None

    def _operation(self) -> MlirOperation:
        tokens = self.tokens
        offset = tokens.offset
        results = self._results()
        if tokens.kind == "string":
            made = self._generic(offset)
        else:
            name_at = tokens.offset
            name = tokens.take("word", "an operation")
            made = MlirOperation(name, offset, name_at + len(name))
            _SYNTAX.get(name, TtirReader._usual)(self, made)
        made.results = results
        return self.located(made)

    def located(self, made: T) -> T:
        """Return `made`, with the place that is written behind it, or else its own."""
        assert isinstance(made, MlirOperation)
        made.loc = self.locations.reference() or SourceLoc(self.source, made.offset, made.end)
        return made

    def _results(self) -> tuple[str, ...]:
        """Return the names of the results: ``%a = ``, ``%a:2 = `` or ``%a, %b = ``."""
        tokens, names = self.tokens, []
        while tokens.kind == "value":
            name = tokens.text
            tokens.index += 1
            if tokens.accept(":"):
                names += [f"{name}#{index}" for index in range(min(tokens.integer(), 1 << 10))]
            else:
                names.append(name)
            if not tokens.accept(","):
                tokens.expect("=")
                break
        return tuple(names)

    def _usual(self, made: MlirOperation) -> None:
        """Read the part of an operation between its name and its place."""
        tokens, operands = self.tokens, []
        while not self._ends():
            kind, text = tokens.kind, tokens.text
            if kind == "value":
                operands.append(self.use())
            elif text == "{":
                made.attributes |= self.attributes()
            elif text == ":":
                tokens.index += 1
                if tokens.kind != "value":
                    break
            elif text == "->":
                break
            elif text in (",", "(", ")", "[", "]"):
                tokens.index += 1
            elif kind == "word" and tokens.texts[tokens.index + 1] == "=":
                tokens.index += 2
                made.attributes[text] = self.value()
            else:
                made.words.append((self.value(), len(operands)))
        made.operands = tuple(operands)
        self._types(made)

    def _ends(self) -> bool:
        """Return whether the next token is no part of the operation being read."""
        tokens = self.tokens
        kind, text = tokens.kind, tokens.text
        if kind == "word":
            return text == "loc" or "." in text
        if kind == "value":
            return self._is_definition()
        return kind in (END, "label") or text == "}" or (kind == "string" and tokens.texts[tokens.index + 1] == "(")

    def _is_definition(self) -> bool:
        """Return whether the next values are the results of an operation: an equals sign follows them."""
        texts, kinds, index = self.tokens.texts, self.tokens.kinds, self.tokens.index
        while kinds[index] == "value":
            index += 3 if texts[index + 1] == ":" and kinds[index + 2] == "number" else 1
            if texts[index] == "=":
                return True
            if texts[index] != ",":
                return False
            index += 1
        return False

    def _types(self, made: MlirOperation) -> None:
        """Read types, after the colon before them; then those of the results, if there are any."""
        tokens, types = self.tokens, list(made.types)
        while self.begins_type():
            if tokens.text == "(":
                types += self.types_or_one()
            else:
                types.append(self.type())
            if not (tokens.accept(",") or tokens.accept("*")):
                break
        made.types = tuple(types)
        if tokens.accept("->") or tokens.accept("to"):
            made.result_types = self.types_or_one()

    def use(self) -> Use:
        tokens = self.tokens
        offset = tokens.offset
        return Use(tokens.take("value", "a value such as %x"), offset)

    def uses(self, close: str) -> tuple[Use, ...]:
        return tuple(self.list_of(self.use, close))

    def _generic(self, offset: int) -> MlirOperation:
        """Read ``"tt.reduce"(%x) <{axis = 0 : i32}> ({...}) {...} : (T) -> T``."""
        tokens = self.tokens
        name = tokens.string()
        made = MlirOperation(name, offset, tokens.starts[tokens.index - 1] + len(name) + 2)
        tokens.expect("(")
        made.operands = self.uses(")")
        if tokens.accept("["):
            made.successors = self.list_of(self.successor, "]")
        if tokens.accept("<"):
            made.attributes |= self.attributes()
            tokens.expect(">")
        if tokens.accept("("):
            made.regions = self.list_of(self.region, ")")
        if tokens.text == "{":
            made.attributes |= self.attributes()
        tokens.expect(":")
        self._types(made)
        self._share_operands(made)
        return made

    def _share_operands(self, made: MlirOperation) -> None:
        """Give the operands of a branch in generic form to the blocks that they are for."""
        if not made.successors:
            return
        sizes = made.attributes.get("operandSegmentSizes")
        given = iter(made.operands)
        made.operands = tuple(islice(given, int(made.name == "cf.cond_br")))
        counts = sizes[1:] if isinstance(sizes, tuple) else (None,)
        for successor, count in zip(made.successors, counts):
            if isinstance(count, int) and count < 0:
                message = f"expected numbers of operands in 'operandSegmentSizes', got {count}"
                raise ImportFault(SYNTAX, message, self.tokens.place(made.offset))
            successor.operands = tuple(islice(given, count if isinstance(count, int) else None))

    def successor(self) -> Successor:
        """Read ``^bb1(%x, %y : f32, i32)``, or without operands."""
        tokens = self.tokens
        label, operands = tokens.take("label", "a block such as ^bb1"), []
        if tokens.accept("("):
            while tokens.kind == "value":
                operands.append(self.use())
                tokens.accept(",")
            if tokens.accept(":"):
                while not tokens.accept(")"):
                    self.type()
                    tokens.accept(",")
            else:
                tokens.expect(")")
        return Successor(label, tuple(operands))

    # ------------------------------------------------------------ operations with syntax of their own

    def _branch(self, made: MlirOperation) -> None:
        """Read ``cf.br ^bb1(...)`` and ``cf.cond_br %c, ^bb1(...), ^bb2(...)``."""
        operands = []
        while self.tokens.kind in ("value", "label"):
            if self.tokens.kind == "value":
                operands.append(self.use())
            else:
                made.successors.append(self.successor())
            if not self.tokens.accept(","):
                break
        made.operands = tuple(operands)
        if self.tokens.text == "{":
            made.attributes |= self.attributes()

    def _for(self, made: MlirOperation) -> None:
        """Read ``scf.for %i = %low to %high step %step iter_args(%a = %x) -> (T) : i32 {...} {...}``."""
        tokens = self.tokens
        if tokens.accept("unsigned"):
            made.attributes["unsignedCmp"] = True
        counter, place = tokens.take("value", "a counter such as %i"), tokens.place()
        bounds = []
        for word in ("=", "to", "step"):
            tokens.expect(word)
            bounds.append(self.use())
        names, initial = self._carried() if tokens.accept("iter_args") else ((), ())
        if tokens.accept("->"):
            made.result_types = self.types_or_one()
        made.types = (self.type() if tokens.accept(":") else MlirScalar("index"),)
        made.operands = (*bounds, *initial)
        carried = (
            MlirArgument(name, type, place, {})
            for name, type in zip((counter, *names), (*made.types, *made.result_types))
        )
        made.regions = [self.yielding_region(tuple(carried))]
        if tokens.text == "{":
            made.attributes |= self.attributes()

    def _carried(self) -> tuple[tuple[str, ...], tuple[Use, ...]]:
        """Read ``(%a = %x, %b = %y)``: names of arguments, and their first values."""
        tokens, names, initial = self.tokens, [], []
        tokens.expect("(")
        while not tokens.accept(")"):
            names.append(tokens.take("value", "an argument such as %a"))
            tokens.expect("=")
            initial.append(self.use())
            tokens.accept(",")
        return tuple(names), tuple(initial)

    def _if(self, made: MlirOperation) -> None:
        """Read ``scf.if %c -> (T) {...} else {...}``."""
        tokens = self.tokens
        made.operands = (self.use(),)
        if tokens.accept("->"):
            made.result_types = self.types_or_one()
        made.regions = [self.yielding_region()]
        if tokens.accept("else"):
            made.regions.append(self.yielding_region())
        if tokens.text == "{":
            made.attributes |= self.attributes()

    def _while(self, made: MlirOperation) -> None:
        """Read ``scf.while (%a = %x) : (T) -> (R) {...} do {^bb0(%b: R): ...}``."""
        tokens = self.tokens
        place = tokens.place()
        names, made.operands = self._carried() if tokens.text == "(" else ((), ())
        tokens.expect(":")
        self._types(made)
        before = tuple(MlirArgument(name, type, place, {}) for name, type in zip(names, made.types))
        made.regions = [self.region(before)]
        tokens.expect("do")
        made.regions.append(self.region())
        if tokens.accept("attributes"):
            made.attributes |= self.attributes()

    def _call(self, made: MlirOperation) -> None:
        """Read ``tt.call @f(%x) : (T) -> R``."""
        made.attributes["callee"] = self.symbol()
        self._usual(made)


_SYNTAX: dict[str, Callable[[TtirReader, MlirOperation], None]] = {
    "cf.br": TtirReader._branch,
    "cf.cond_br": TtirReader._branch,
    "scf.for": TtirReader._for,
    "scf.if": TtirReader._if,
    "scf.while": TtirReader._while,
    "tt.call": TtirReader._call,
}
