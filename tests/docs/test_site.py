"""The site has every page of the manual, and none of its links leads nowhere."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[2]


def test_every_page_of_the_manual_is_in_the_site() -> None:
    """Those that have no place in ``mkdocs.yml`` are found by hand, at the end."""
    spec = importlib.util.spec_from_file_location("site_pages", ROOT / "docs/site_pages.py")
    assert spec is not None and spec.loader is not None
    hooks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hooks)
    nav = [{"Start": ["quickstart.md"]}, {"Language": "spec"}]
    found = hooks.on_config(SimpleNamespace(nav=nav)).nav
    pages = [page for item in found for pages in item.values() for page in pages]
    assert sorted(pages) == sorted(path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md"))
    assert found[1]["Language"][0] == "spec/README.md" and "cli.md" in found[2]["More"]


@pytest.mark.thorough
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    if importlib.util.find_spec("mkdocs") is None or importlib.util.find_spec("material") is None:
        pytest.skip("the site is built by mkdocs-material")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment)
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "index.html").exists() and (tmp_path / "search/search_index.json").exists()
    assert "https://fonts" not in (tmp_path / "index.html").read_text()
    assert 'role="dialog"' not in (tmp_path / "index.html").read_text(), "the search has a role that needs no name"
    assert "site.css" in (tmp_path / "index.html").read_text()
