"""The playground in a real browser: Python there answers the page, with NumPy and without.

``make playground-test`` fetches the core of Pyodide. Its wheels of NumPy and ml_dtypes are in the full distribution.
"""

from __future__ import annotations

import importlib.util
import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from test_serve import EXP, SOFTMAX
from test_serve_page import SECONDS, WebDriverWait, browser, choose, faults, press, settled, text_of, write

__all__ = ["browser"]
ROOT = Path(__file__).parents[2]
PYODIDE = ROOT / "build/pyodide/node_modules/pyodide"
KINDS = {".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript", ".wasm": "application/wasm"}
spec = importlib.util.spec_from_file_location("site_pages", ROOT / "docs/site_pages.py")
assert spec is not None and spec.loader is not None
site_pages = importlib.util.module_from_spec(spec)
spec.loader.exec_module(site_pages)


class Site(BaseHTTPRequestHandler):
    """The playground's folder and Pyodide's, which has its wheels or not."""

    wheels = True
    archive = site_pages.package_archive()

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        content = self.content(path)
        self.send_response(200 if content is not None else 404)
        self.send_header("Content-Type", KINDS.get(Path(path).suffix, "application/octet-stream"))
        self.send_header("Content-Length", str(len(content or b"")))
        self.end_headers()
        self.wfile.write(content or b"")

    def content(self, path: str) -> bytes | None:
        folder, _, name = path.lstrip("/").partition("/")
        if path == "/playground/tileir.zip":
            return self.archive
        if folder == "playground" and name == "worker.js":
            return (ROOT / "docs/playground/worker.js").read_bytes()
        if folder == "playground":
            worker = json.dumps("worker.js"), json.dumps(f"worker.js?pyodide=/{name.removesuffix('.html')}/")
            return str(site_pages.playground()).replace(*worker).encode()
        file = PYODIDE / name
        return file.read_bytes() if folder == "pyodide" and file.is_file() and self.allowed(name) else None

    def allowed(self, name: str) -> bool:
        return self.wheels or not name.endswith((".whl", ".zip")) or name == "python_stdlib.zip"

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/playground"
    server.shutdown()
    server.server_close()


def need_pyodide() -> None:
    if not (PYODIDE / "pyodide.mjs").is_file():
        pytest.skip("Pyodide is not in build/pyodide: 'make playground-test' fetches it")


def need_numpy() -> None:
    need_pyodide()
    if not list(PYODIDE.glob("numpy-*.whl")) or not list(PYODIDE.glob("ml_dtypes-*.whl")):
        pytest.skip("NumPy for Pyodide is in its full distribution only, and not in build/pyodide")


def test_the_packages_of_the_playground_are_in_that_pyodide() -> None:
    need_pyodide()
    worker = (ROOT / "docs/playground/worker.js").read_text(encoding="utf-8")
    wanted = re.search(r"PACKAGES = (\[.*\]);", worker)
    assert wanted is not None
    there = json.loads((PYODIDE / "pyodide-lock.json").read_text(encoding="utf-8"))["packages"]
    assert set(json.loads(wanted[1])) == {"numpy", "ml-dtypes"} <= set(there)


def test_the_page_says_that_python_cannot_be_loaded_and_from_where(browser: Any, site: str) -> None:
    browser.get(f"{site}/nowhere.html")
    state = browser.find_element("id", "state")
    WebDriverWait(browser, SECONDS).until(lambda _: "could not be loaded" in state.text or "nowhere" in state.text)
    assert "/nowhere/" in state.text
    assert "Pyodide" in browser.find_element("css selector", "footer").text
    browser.get_log("browser")


def test_a_program_is_checked_printed_and_formatted_without_numpy(
    browser: Any, site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    need_pyodide()
    monkeypatch.setattr(Site, "wheels", False)
    browser.get(f"{site}/pyodide.html#{site_pages.playground_link(SOFTMAX)}")
    WebDriverWait(browser, SECONDS).until(lambda _: "@softmax" in text_of(browser, "Tile IR"))
    settled(browser)
    assert "NumPy could not be loaded from http" in text_of(browser, "run")
    press(browser, "bytecode", "explain")
    assert "exp" in text_of(browser, "bytecode")
    write(browser, "= exp %shifted", "= exq %shifted")
    WebDriverWait(browser, SECONDS).until(lambda _: browser.find_elements("css selector", "#diagnostics .error"))
    assert browser.find_element("css selector", "#diagnostics .error").text.startswith(f"{EXP}:")
    write(browser, "= exq %shifted", "  =   exp %shifted")
    WebDriverWait(browser, SECONDS).until(lambda _: not browser.find_elements("css selector", "#diagnostics .error"))
    browser.find_element("id", "format").click()
    WebDriverWait(browser, SECONDS).until(
        lambda _: browser.execute_script("return state.text.includes('%powers = exp %shifted')")
    )
    browser.get_log("browser")


def test_every_pane_of_the_playground_is_answered_with_numpy(browser: Any, site: str) -> None:
    need_numpy()
    launch = {"grid": "4", "arguments": "x=f32[4,100]:randn y=f32[4,100]:zeros rows=4 columns=100"}
    browser.get("about:blank")
    browser.get(f"{site}/pyodide.html#{site_pages.playground_link(SOFTMAX, **launch)}")
    WebDriverWait(browser, SECONDS).until(lambda _: "f32[4, 100]" in text_of(browser, "run"))
    settled(browser)
    others = browser.execute_script("return data.panes.filter((name) => !state.panes.includes(name))")
    press(browser, *others)
    assert browser.find_elements("css selector", ".rows > .fault") == []
    assert len(browser.find_elements("css selector", "[data-pane='run'] canvas")) == 2
    assert text_of(browser, "sanitize") == "nothing found" and "tt.func" in text_of(browser, "TTIR")
    browser.switch_to.frame(browser.find_element("css selector", "[data-pane='view'] iframe"))
    assert browser.find_element("id", "kernel").text == "@softmax"
    browser.switch_to.default_content()
    choose(browser, "arguments", "x=f32[3,100]:randn y=f32[4,100]:zeros rows=4 columns=100")
    WebDriverWait(browser, SECONDS).until(lambda _: "'x'" in browser.find_element("id", "diagnostics").text)
    assert faults(browser) == []
