"""Tokens are the same whether or not a text has comments, which decide how it is cut into them."""

import random
from collections.abc import Iterator

from tileir.text.reading.lexer import END, TokenCursor

PIECES = [
    *("%a", "%a#1", "%a #1", "%-x", "%a-b", "%", "% ", "addf", "tile<4xf32>", "tile<", "tile<4x%a>", "ptr<", "4x"),
    *("!cuda_tile.tile<", "!t", "#a", "#", "#1", "^b", "@f", "@", "<", ">", ">>", "->", "-", ",", ":", "=", "(", "}"),
    *("1.5", "0x1", "$", "\\", "/", " ", "  ", "\n", "\t", "\r", "\x0b", "\x1c", "\x85", "\xa0", "\u3000", "é"),
]


def tokens(text: str) -> list[tuple[str, int]]:
    cursor = TokenCursor(text)
    return [pair for pair in zip(cursor.tokens, cursor.starts) if pair[0] is not END]


def test_texts_are_cut_into_the_same_tokens_with_a_comment_behind() -> None:
    picks = random.Random(1)
    for _ in range(20_000):
        text = "".join(picks.choices(PIECES, k=picks.randint(1, 12)))
        assert tokens(text) == tokens(text + "\n// comment"), text


def test_long_texts_are_cut_between_tokens_wherever_a_piece_of_them_ends() -> None:
    """Pieces are some 32 thousand characters long."""
    line = '%a-1#12 = x %b #3, 1.5e-7, 0xFF : tile<4x2xf32> {a = "one, two", b = -> } #c // more, and more\n'
    names = [token for token, _ in tokens(line)]
    for shift in range(len(line)):
        assert [*_all_tokens(f"@f{' ' * shift}{line * 400}")] == ["@f", *names * 400], shift


def _all_tokens(text: str) -> Iterator[str]:
    cursor = TokenCursor(text)
    while cursor.tokens[cursor.index] is not END:
        yield cursor.tokens[cursor.index]
        cursor.index += 1
        cursor.lookahead()


def test_the_same_gap_again_is_cut_the_same_way() -> None:
    line = "%a = addf %b, %c rounding<zero> : tile<4xf32>\n"
    first, *rest = [tokens(line * count) for count in (1, 2, 3)]
    for count, found in enumerate(rest, 2):
        assert found == [(token, at + number * len(line)) for number in range(count) for token, at in first]


def test_a_type_that_values_stand_in_is_one_token() -> None:
    text = "%a = x %b : tile<4x%c> %d"
    assert [token for token, _ in tokens(text)] == ["%a", "=", "x", "%b", ":", "tile<4x%c>", "%d"]
