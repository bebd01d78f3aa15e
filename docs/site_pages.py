"""Parts of the site besides the pages of this folder: the changelog, the files that pages link to, and the playground.

MkDocs calls the functions here by their names (``mkdocs.yml``).
"""

from __future__ import annotations

import base64
import io
import json
import re
import textwrap
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.structure.files import Files

ROOT = Path(__file__).parents[1]
EXAMPLES = "tileir/examples"
_OUTSIDE = re.compile(r"\]\((?:\.\./)+(tileir/examples/[\w./+-]+|examples)\)")
_FROM_README = re.compile(r"\]\(docs/")
_PROGRAM = re.compile(r"^( *)```mlir[^\n]*\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
PLAYGROUND = "playground/index.html"
_PYODIDE = re.compile(r"https://[\w.]+/pyodide/v([\d.]+)/full/")
_FOOT = (
    "<footer>All of it runs in this page: Python is Pyodide {version}, loaded with NumPy and ml_dtypes from "
    "cdn.jsdelivr.net; tileir comes from this site. Programs are sent nowhere; a shared link has the program behind "
    "its #, which browsers keep to themselves. Kernels run on the interpreter; <a href='../tools/serve.html'>tileir "
    "serve</a> is the same page on your machine, with native code. <a href='../index.html'>tileir</a></footer>"
)


def on_config(config: Any) -> Any:
    """List the pages of the language reference, the first one in front, and last those that have no place."""
    pages = sorted(path.name for path in (ROOT / "docs/spec").glob("*.md"))
    pages.sort(key=lambda name: name != "README.md")
    for item in config.nav:
        if item.get("Language") == "spec":
            item["Language"] = [f"spec/{name}" for name in pages]
    groups = [pages if isinstance(pages, list) else [pages] for item in config.nav for pages in item.values()]
    listed = {page for pages in groups for page in pages}
    more = [page for page in manual() if page not in listed]
    if more:
        config.nav.append({"More": more})
    return config


def manual() -> list[str]:
    """Every page of the manual but those of the language reference."""
    docs = ROOT / "docs"
    return sorted(path.relative_to(docs).as_posix() for path in (*docs.glob("*.md"), *docs.glob("tools/*.md")))


def on_files(files: Files, config: Any) -> Files:
    """Add the changelog, the examples and the playground."""
    from mkdocs.structure.files import File

    files.append(File.generated(config, PLAYGROUND, content=playground()))
    files.append(File.generated(config, "playground/tileir.zip", content=package_archive()))
    files.append(File.generated(config, "changelog.md", content=changelog()))
    for path in sorted((ROOT / EXAMPLES).rglob("*")):
        if path.suffix in (".mlir", ".py", ".ipynb") and path.name != "__init__.py":
            name = path.relative_to(ROOT).as_posix()
            files.append(File.generated(config, name + ".txt", content=path.read_bytes()))
    return files


def playground() -> str:
    """The page of ``tileir serve``, answered by a worker of the browser."""
    from tileir.tools.serve.panes import page

    text = (ROOT / EXAMPLES / "softmax.mlir").read_text(encoding="utf-8")
    found = _PYODIDE.search((ROOT / "docs/playground/worker.js").read_text(encoding="utf-8"))
    assert found is not None
    foot = _FOOT.format(version=found[1])
    return page(text, "8", "x=f32[8,100]:randn y=f32[8,100]:zeros rows=8 columns=100", "worker.js", foot)


def package_archive() -> bytes:
    """The package's files of Python and text, as the playground's worker unpacks them."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted((ROOT / "tileir").rglob("*")):
            if path.suffix in (".py", ".md", ".mlir", ".html", ".css", ".js") and path.name != "codemirror.js":
                name = zipfile.ZipInfo(path.relative_to(ROOT).as_posix())
                archive.writestr(name, path.read_bytes(), zipfile.ZIP_DEFLATED)
    return target.getvalue()


def playground_link(text: str, **launch: str) -> str:
    """The part of the playground's address behind ``#`` that has a program, as its page packs it."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed = packer.compress(json.dumps({"text": text, **launch}).encode()) + packer.flush()
    return base64.urlsafe_b64encode(packed).decode().rstrip("=")


def changelog() -> str:
    """The changelog, whose links lead from this folder."""
    return _FROM_README.sub("](", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Lead to the copies of files that lie outside of this folder; a folder of examples is the page about them."""
    up = "../" * page.file.src_uri.count("/")

    def inside(match: re.Match[str]) -> str:
        path = ROOT / match[1]
        return f"]({up}{match[1]}.txt)" if path.is_file() else f"]({up}examples.md)"

    def playable(match: re.Match[str]) -> str:
        indent, text = match[1], textwrap.dedent(match[2])
        if not re.search(r"\b(entry|module)\b", text):
            return match[0]
        address = f"{up}{PLAYGROUND}#{playground_link(text)}"
        return f'{match[0]}\n\n{indent}<p class="playground"><a href="{address}">open in the playground</a></p>\n'

    markdown = _PROGRAM.sub(playable, markdown)
    return _OUTSIDE.sub(inside, markdown.replace("](../CHANGELOG.md)", f"]({up}changelog.md)"))


def on_post_page(output: str, **_: Any) -> str:
    """Give the search the role and name that the theme leaves out."""
    return output.replace('data-md-component="search" role="dialog"', 'data-md-component="search" role="search"')
