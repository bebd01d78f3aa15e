"""A lexer for Pygments, which colours Tile IR in documents and terminals."""

from __future__ import annotations

from pygments.lexer import RegexLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text, _TokenType

from tileir.text.highlight import sorts

_TOKENS: dict[str, _TokenType] = {
    "comment.line.double-slash": Comment.Single,
    "string.quoted.double": String.Double,
    "entity.name.function": Name.Function,
    "variable.other": Name.Variable,
    "entity.name.type": Name.Class,
    "constant.other.alias": Name.Constant,
    "entity.name.label": Name.Label,
    "keyword.declaration": Keyword.Declaration,
    "keyword.control": Keyword,
    "storage.type": Keyword.Type,
    "support.function": Name.Builtin,
    "constant.numeric": Number,
    "support.type": Keyword.Type,
    "storage.modifier": Operator.Word,
    "constant.language": Keyword.Constant,
    "variable.parameter": Name.Attribute,
    "punctuation": Punctuation,
}


class TileIrLexer(RegexLexer):
    """Tile IR text."""

    name = "Tile IR"
    aliases = ["tileir", "cuda_tile", "mlir"]
    filenames = ["*.tileir"]
    mimetypes = ["text/x-tileir"]
    tokens = {"root": [*((one.expression, _TOKENS[one.scope]) for one in sorts()), (r"\s+|.", Text)]}
