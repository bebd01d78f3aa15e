"""Parts of the site besides the pages of this folder: the front page, the changelog, and the files that pages link to.

The front page is the README. MkDocs calls the functions here by their names (``mkdocs.yml``).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.structure.files import Files

ROOT = Path(__file__).parents[1]
EXAMPLES = "tileir/examples"
_OUTSIDE = re.compile(r"\]\((?:\.\./)+(tileir/examples/[\w./+-]+|examples)\)")
_FROM_README = re.compile(r"\]\(docs/")


def on_config(config: Any) -> Any:
    """List the pages of the language reference, the first one in front, and last those that have no place."""
    pages = sorted(path.name for path in (ROOT / "docs/spec").glob("*.md"))
    pages.sort(key=lambda name: name != "README.md")
    for item in config.nav:
        if item.get("Language") == "spec":
            item["Language"] = [f"spec/{name}" for name in pages]
    listed = {page for item in config.nav for pages in item.values() for page in pages}
    more = [page for page in manual() if page not in listed]
    if more:
        config.nav.append({"More": more})
    return config


def manual() -> list[str]:
    """Every page of the manual but those of the language reference."""
    docs = ROOT / "docs"
    return sorted(path.relative_to(docs).as_posix() for path in (*docs.glob("*.md"), *docs.glob("tools/*.md")))


def on_files(files: Files, config: Any) -> Files:
    """Add the front page and the examples."""
    from mkdocs.structure.files import File

    files.append(File.generated(config, "index.md", content=front_page()))
    files.append(File.generated(config, "changelog.md", content=changelog()))
    for path in sorted((ROOT / EXAMPLES).rglob("*")):
        if path.suffix in (".mlir", ".py", ".ipynb") and path.name != "__init__.py":
            name = path.relative_to(ROOT).as_posix()
            files.append(File.generated(config, name + ".txt", content=path.read_bytes()))
    return files


def front_page() -> str:
    """The README, whose links lead from this folder."""
    text = _FROM_README.sub("](", (ROOT / "README.md").read_text(encoding="utf-8"))
    text = text.replace("](CHANGELOG.md)", "](changelog.md)")
    text = text.replace("](LICENSE)", "](contributing.md)").replace("](SECURITY.md)", "](contributing.md)")
    return re.sub(r"\]\((?!https?:|#)([A-Z]+\.md)\)", "](contributing.md)", text)


def changelog() -> str:
    """The changelog, whose links lead from this folder."""
    return _FROM_README.sub("](", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Lead to the copies of files that lie outside of this folder; a folder of examples is the page about them."""
    up = "../" * page.file.src_uri.count("/")

    def inside(match: re.Match[str]) -> str:
        path = ROOT / match[1]
        return f"]({up}{match[1]}.txt)" if path.is_file() else f"]({up}examples.md)"

    return _OUTSIDE.sub(inside, markdown.replace("](../CHANGELOG.md)", f"]({up}changelog.md)"))
