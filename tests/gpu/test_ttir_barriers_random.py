"""Whatever way control takes through a random program, a barrier stands wherever tokens ask for one.

The test follows the memory model's token order (spec: memory-model#relations) along one execution, access by access,
and shares nothing with the tested code.
"""

import random

import pytest

from tests.gpu.test_ttir_barriers import add, join, load, module, parts, store
from tests.thorough import sampled
from tileir.gpu.ttir.analysis.barriers import TokenOrder
from tileir.ir import types as t
from tileir.ops import control
from tileir.ops.calls import Call

ACCESSES = ("load_ptr_tko", "store_ptr_tko", "atomic_rmw_tko")
WAIT, FENCE = "gdc_wait_tko", "memory_fence_alias_tko"
FREE = {
    ("weak load_ptr_tko", "weak load_ptr_tko"),
    ("weak load_ptr_tko", "relaxed load_ptr_tko"),
    ("weak load_ptr_tko", "acquire load_ptr_tko"),
    ("relaxed load_ptr_tko", "weak load_ptr_tko"),
}
"""An access and one that comes after it by token, without a barrier between. All others have one: two strong loads must
not read an older value the second time (CoRR, spec: memory-model#axioms); after an acquire, and after waiting for
another kernel, everything is to see what others did before; and stores and updates meet any access of their memory."""

FUNCTIONS = f"""experimental$func @f(%p: tile<ptr<i32>>, %t: token, %cond: tile<i1>) -> token {{
  %one = constant <i32: 1> : tile<i32>
  {load("t", "a", "acquire device")}
  if %cond {{
    {store("a", "b")}
    return %b : token
  }}
  return %t : token
}}"""


class Writer:
    """A random program: `tokens` are the names in sight."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.count = 0

    def fresh(self):
        self.count += 1
        return f"n{self.count}"

    def block(self, tokens, depth, ends=()):
        """Statements, and the tokens in sight behind them."""
        lines, tokens = [], list(tokens)
        for _ in range(self.random.randint(1, 5)):
            kinds = ["access"] * 5 + ["join", "fence", "wait", "call"] + ["if", "for", "loop", "leave"] * (depth < 4)
            lines.append(getattr(self, self.random.choice(kinds))(tokens, depth, ends))
        return lines, tokens

    def any(self, tokens):
        # Mostly what is new: so chains become long.
        return self.random.choice(tokens[-3:] if self.random.random() < 0.7 else tokens)

    def access(self, tokens, depth, ends):
        kinds = [
            (load, "weak"), (load, "weak"), (load, "relaxed device"), (load, "acquire device"), (store, "weak"),
            (store, "release device"), (add, "relaxed device"), (add, "acq_rel device"),
        ]  # fmt: skip
        make, how = self.random.choice(kinds)
        result = self.fresh()
        line = make(self.any(tokens), result, how)
        tokens.append(result)
        return line

    def join(self, tokens, depth, ends):
        result = self.fresh()
        line = join(result, self.any(tokens), self.any(tokens))
        tokens.append(result)
        return line

    def fence(self, tokens, depth, ends):
        result = self.fresh()
        line = f"%{result} = memory_fence_alias_tko %{self.any(tokens)}"
        tokens.append(result)
        return line

    def wait(self, tokens, depth, ends):
        result = self.fresh()
        line = f"%{result} = gdc_wait_tko token = %{self.any(tokens)} -> token"
        tokens.append(result)
        return line

    def call(self, tokens, depth, ends):
        result = self.fresh()
        given = f"%p, %{self.any(tokens)}, %cond"
        tokens.append(result)
        return f"%{result} = experimental$call @f({given}) : (tile<ptr<i32>>, token, tile<i1>) -> token"

    def leave(self, tokens, depth, ends):
        """An early exit, where there is one to take."""
        if not ends:
            return self.access(tokens, depth, ends)
        lines, inner = self.block(tokens, depth + 1)
        return f"if %cond {{\n{chr(10).join(lines)}\n{self.random.choice(ends)} %{self.any(inner)} : token\n}}"

    def branch(self, tokens, depth, ends):
        lines, inner = self.block(tokens, depth + 1, ends)
        return "\n".join([*lines, f"yield %{self.any(inner)} : token"])

    def if_(self, tokens, depth, ends):
        result = self.fresh()
        then, otherwise = (self.branch(tokens, depth, ends) for _ in range(2))
        tokens.append(result)
        return f"%{result} = if %cond -> (token) {{\n{then}\n}} else {{\n{otherwise}\n}}"

    def for_(self, tokens, depth, ends):
        result, carried = self.fresh(), self.fresh()
        lines, inner = self.block([*tokens, carried], depth + 1, ("continue",))
        head = f"for %i{result} in (%zero to %n, step %one) : tile<i32> iter_values(%{carried} = %{self.any(tokens)})"
        tokens.append(result)
        return f"%{result} = {head} -> (token) {{\n{chr(10).join(lines)}\ncontinue %{self.any(inner)} : token\n}}"

    def loop(self, tokens, depth, ends):
        result, carried = self.fresh(), self.fresh()
        lines, inner = self.block([*tokens, carried], depth + 1, ("continue", "break"))
        lines.append(f"if %cond {{\nbreak %{self.any(inner)} : token\n}}")
        head = f"loop iter_values(%{carried} = %{self.any(tokens)}) : token -> token"
        tokens.append(result)
        return f"%{result} = {head} {{\n{chr(10).join(lines)}\ncontinue %{self.any(inner)} : token\n}}"


setattr(Writer, "if", Writer.if_)
setattr(Writer, "for", Writer.for_)


class Left(Exception):
    """Control leaves a region: by which operation, with which tokens."""

    def __init__(self, kind, tokens):
        self.kind, self.tokens = kind, tokens


def kind_of(op):
    """``weak load_ptr_tko``, or the name of what has no ordering."""
    ordering = op.attributes.get("memory_ordering_semantics")
    return op.spec.name if ordering is None else f"{ordering.text} {op.spec.name}"


def accesses(kind):
    return kind.rpartition(" ")[2] in ACCESSES


class Run:
    """One execution with random branches. A token is the set of accesses that its holder comes after, each a number; an
    access is its kind and the number of barriers before it."""

    def __init__(self, order, functions, seed):
        self.order, self.functions, self.random = order, functions, random.Random(seed)
        self.barriers = 0
        self.done = []
        self.tokens = {}

    def after(self, values):
        return [self.tokens.get(value, frozenset()) for value in values]

    def block(self, block):
        for op in block.ops:
            if self.order.needs_barrier(op):
                self.barriers += 1
            if isinstance(op, control.Yield | control.Continue | control.Break | control.Return):
                raise Left(type(op), self.after(op.operands))
            self.op(op)

    def region(self, block, *kinds):
        """Runs a region that is left by one of the exits; others go on to leave what is around."""
        try:
            self.block(block)
        except Left as left:
            if left.kind not in kinds:
                raise
            return left
        raise AssertionError("a region ends without a terminator")

    def bind(self, values, tokens):
        self.tokens.update(zip(values, tokens))

    def op(self, op):
        if isinstance(op, control.If):
            chosen = op.then if self.random.random() < 0.5 else op.otherwise
            self.bind(op.outputs, [] if chosen is None else self.region(chosen, control.Yield).tokens)
        elif isinstance(op, control.For):
            tokens = self.after(op.initial)
            for _ in range(self.random.randint(0, 3)):
                self.bind(op.body.args[1:], tokens)
                tokens = self.region(op.body, control.Continue).tokens
            self.bind(op.outputs, tokens)
        elif isinstance(op, control.Loop):
            left = Left(control.Continue, self.after(op.initial))
            while left.kind is control.Continue:
                self.bind(op.body.args, left.tokens)
                left = self.region(op.body, control.Continue, control.Break)
            self.bind(op.outputs, left.tokens)
        elif isinstance(op, Call):
            function = self.functions[op.callee]
            self.bind(function.body.args, self.after(op.args))
            self.bind(op.outputs, self.region(function.body, control.Return).tokens)
        else:
            self.access(op)

    def access(self, op):
        before = frozenset().union(*self.after(op.operands))
        kind = kind_of(op)
        for earlier, barriers in (self.done[number] for number in before):
            if kind == FENCE:
                assert not accesses(earlier) or barriers < self.barriers, "an access meets a fence without a barrier"
            elif accesses(kind) and (earlier, kind) not in FREE:
                assert barriers < self.barriers, f"no barrier between {earlier} and {kind}"
        if accesses(kind) or kind == WAIT:
            before |= {len(self.done)}
            self.done.append((kind, self.barriers))
        self.bind([result for result in op.results if isinstance(result.type, t.TokenType)], [before])


@pytest.mark.parametrize("start", sampled(range(0, 300, 50), 3))
def test_every_execution_of_a_random_program_keeps_the_order_of_tokens(start):
    for seed in range(start, start + 50):
        lines, _ = Writer(seed).block(["t0"], 0)
        entry, functions, _ = parts(module(*lines, functions=FUNCTIONS))
        order = TokenOrder.of(entry, functions)
        for number in range(8):
            Run(order, functions, number).region(entry.body, control.Return)
