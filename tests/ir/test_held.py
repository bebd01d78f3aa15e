"""The parts of an operation and their changes: operands, results and its place."""

import pickle

import pytest

from tileir.ir.core import Op, Value
from tileir.ir.loc import UNKNOWN, FileLoc, Places, SourceLoc
from tileir.ir.types import TOKEN
from tileir.text.parser import parse

TEXT = """entry @k(%p: tile<ptr<f32>>, %n: tile<i32>) {
  %t = make_token : token
  %x, %u = load_ptr_tko weak %p token=%t : tile<ptr<f32>> -> tile<f32>, token
  "cuda_tile.return"() : () -> ()
}"""


def operations() -> list[Op]:
    (item,) = parse(TEXT, "k.mlir").items
    return [item, *item.regions[0].ops]


@pytest.mark.parametrize(("index", "count"), [(1, 1), (2, 2), (3, 0)])
def test_results_are_a_tuple_of_the_same_values_each_time(index: int, count: int) -> None:
    op = operations()[index]
    assert isinstance(op.results, tuple)
    assert len(op.results) == count
    assert op.results == op.results
    assert [value.op for value in op.results] == [op] * count


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_results_can_be_replaced(count: int) -> None:
    op = operations()[2]
    values = [Value(TOKEN, op, index) for index in range(count)]
    op.results = values
    assert op.results == tuple(values)
    for index in range(count):
        other = Value(TOKEN, op, index)
        op.set_result(index, other)
        assert op.results[index] is other
    assert len(op.results) == count


def test_operands_can_be_replaced() -> None:
    entry, _, load, _ = operations()
    pointer, number = entry.regions[0].args
    token = load.operands[1]
    load.set_operand(0, number)
    assert load.operands == (number, token)
    load.operands = (pointer, token)
    assert load.operands == (pointer, token)


def test_a_declared_result_is_the_value_itself() -> None:
    _, make, load, _ = operations()
    assert make.result is make.results[0]
    assert (load.result, load.result_token) == load.results


def test_a_place_is_that_of_the_name_and_equal_each_time() -> None:
    for op, name in zip(operations(), ("entry", "make_token", "load_ptr_tko", '"cuda_tile.return"')):
        place = op.loc
        assert isinstance(place, SourceLoc)
        assert TEXT[place.offset : place.end] == name
        assert place == op.loc
        assert hash(place) == hash(op.loc)


def test_places_of_more_operations_than_are_counted_together_are_told_apart() -> None:
    count = 2 * Places.LENGTH + 3
    text = "entry @k() {\n" + "".join(f"%{index} = make_token : token\n" for index in range(count)) + "return }"
    (item,) = parse(text).items
    lines = [op.loc.file_loc.line for op in item.regions[0].ops if isinstance(op.loc, SourceLoc)]
    assert lines == list(range(2, count + 3))


def test_a_place_can_be_given() -> None:
    op = operations()[2]
    for place in (FileLoc("k.py", 3, 4), UNKNOWN):
        op.loc = place
        assert op.loc is place


def test_places_of_different_texts_are_different() -> None:
    assert operations()[1].loc != operations()[1].loc


def test_places_survive_pickling() -> None:
    op = operations()[2]
    assert isinstance(op.loc, SourceLoc)
    found = pickle.loads(pickle.dumps(op.loc))
    assert (found.offset, found.end, found.source.text) == (op.loc.offset, op.loc.end, TEXT)
