"""Pages of the site in a real browser: what is too wide for the window can be moved from the keyboard."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from test_serve_page import SECONDS, WebDriverWait, browser, faults, size

__all__ = ["browser"]
ROOT = Path(__file__).parents[2]
pytest.importorskip("mkdocs", reason="the site is built by mkdocs-material")
pytest.importorskip("material", reason="the site is built by mkdocs-material")
WIDE = """
  const wide = [...document.querySelectorAll(".md-typeset__scrollwrap, pre > code")]
    .filter((one) => one.scrollWidth > one.clientWidth);
  return wide.length > 0 && wide.every((one) => one.tabIndex === 0);
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return folder.as_uri()


@pytest.mark.parametrize("page", ["index", "performance", "gpu", "spec/control"])
def test_wide_tables_and_code_take_the_focus(browser: Any, site: str, page: str) -> None:
    size(browser, 390)
    browser.get(f"{site}/{page}.html")
    WebDriverWait(browser, SECONDS).until(lambda _: browser.execute_script(WIDE))
    assert [fault for fault in faults(browser) if "site.js" in fault] == []
    size(browser, 1280)
