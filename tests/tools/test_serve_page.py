"""The page of a program in a real browser: panes, colours through all of them, faults, launches, saved files."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from test_serve import EXP, SOFTMAX, WORDS

from tileir.tools.serve.panes import page
from tileir.tools.serve.server import PageServer

webdriver = pytest.importorskip("selenium.webdriver", reason="the page is tested in a browser that selenium drives")
WebDriverWait = pytest.importorskip("selenium.webdriver.support.ui").WebDriverWait
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
if CHROMIUM is None or DRIVER is None:
    pytest.skip("the page is tested in Chromium, which is not here", allow_module_level=True)

SECONDS = 120


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    driver.set_page_load_timeout(SECONDS)
    driver.set_script_timeout(SECONDS)
    driver.downloads = tmp_path_factory.mktemp("downloads")
    driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(driver.downloads)})
    size(driver, 1280)
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A server that works for each request once: most tests begin with the same program and panes."""
    server = PageServer(page(SOFTMAX, "4", WORDS))
    server.workers.answer = cache(server.workers.answer)  # type: ignore[method-assign]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.url
    server.shutdown()
    server.server_close()


def size(browser: Any, width: int, theme: str = "light") -> None:
    metrics = {"width": width, "height": 1200, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    features = [{"name": "prefers-color-scheme", "value": theme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def settled(browser: Any) -> None:
    """Wait until every open pane has its answer."""
    script = """
      return document.getElementById("state").textContent === "" && !document.querySelector(".stale") &&
        document.querySelectorAll(".pane").length === document.querySelectorAll('nav [aria-pressed="true"]').length"""
    WebDriverWait(browser, SECONDS).until(lambda _: browser.execute_script(script))


def opened(browser: Any, url: str) -> None:
    browser.get(url)
    settled(browser)


def press(browser: Any, *names: str) -> None:
    for name in names:
        browser.find_element("xpath", f"//nav/button[text()='{name}']").click()
    settled(browser)


def text_of(browser: Any, pane: str) -> str:
    script = "return document.querySelector(`[data-pane='${arguments[0]}'] .rows`).innerText"
    found: str = browser.execute_script(script, pane)
    return found


def coloured(browser: Any, pane: str, line: int) -> int:
    """Return how many rows of a pane are highlighted for a line."""
    script = "return document.querySelectorAll(`[data-pane='${arguments[0]}'] .on[data-hue='${arguments[1]}']`).length"
    found: int = browser.execute_script(script, pane, line)
    return found


def write(browser: Any, old: str, new: str) -> None:
    """Change the program in the editor."""
    browser.execute_script(
        "replaceText(editor.state.doc.toString().replace(arguments[0], arguments[1]))",
        old,
        new,
    )


def choose(browser: Any, name: str, value: str) -> None:
    """Give a field of the page a value."""
    script = """const field = document.getElementById(arguments[0]); field.value = arguments[1];
      field.dispatchEvent(new Event("input"))"""
    browser.execute_script(script, name, value)


def faults(browser: Any) -> list[str]:
    return [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (3840, "dark")])
def test_the_page_is_drawn_without_a_fault(browser: Any, url: str, width: int, theme: str) -> None:
    size(browser, width, theme)
    opened(browser, url)
    for name in ("paper", "panes", "shown", "launch"):
        box = browser.execute_script(
            "return document.getElementById(arguments[0]).getBoundingClientRect().toJSON()", name
        )
        assert box["width"] > 100 and box["height"] > 20 and box["right"] <= width + 1, name
    dark = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (dark == "rgb(20, 23, 27)") == (theme == "dark")
    assert faults(browser) == []
    size(browser, 1280)


def test_a_line_has_one_colour_in_the_editor_and_in_every_pane(browser: Any, url: str) -> None:
    opened(browser, url)
    names = ["Tile IR", "bytecode", "LLVM IR", "assembly"]
    names += ["TTIR", "TTGIR", "PTX", "SASS"] if find_spec("triton") else []
    press(browser, *[name for name in names if name not in ("Tile IR", "LLVM IR", "assembly")])
    row = browser.find_element("css selector", f"[data-pane='Tile IR'] [data-hue='{EXP}']")
    row.click()
    for name in names:
        assert coloured(browser, name, EXP) > 0, name
        script = f"return getComputedStyle(document.querySelector(`[data-pane='{name}'] .on`)).backgroundColor"
        assert browser.execute_script(script) == "rgb(255, 213, 74)", name
    marked = browser.find_elements("css selector", "#paper .on")
    assert [one.get_attribute("data-line") for one in marked] == [str(EXP)]
    shown = browser.execute_script(
        """const rows = document.querySelector("[data-pane='assembly'] .rows").getBoundingClientRect();
        const row = document.querySelector("[data-pane='assembly'] .on").getBoundingClientRect();
        return row.top >= rows.top && row.bottom <= rows.bottom"""
    )
    assert shown, "a click brings the rows of the line into view"
    other = browser.find_element("css selector", f"[data-pane='Tile IR'] [data-hue='{EXP - 1}']")
    webdriver.ActionChains(browser).move_to_element(other).move_by_offset(3, 1).perform()
    assert coloured(browser, "Tile IR", EXP - 1) == 1 and coloured(browser, "Tile IR", EXP) == 0, "the pointer marks"
    assert faults(browser) == []


def test_a_fault_is_told_at_its_line_while_typing(browser: Any, url: str) -> None:
    opened(browser, url)
    press(browser, "LLVM IR", "assembly")
    write(browser, "= exp %shifted", "= exq %shifted")
    WebDriverWait(browser, SECONDS).until(lambda _: browser.find_elements("css selector", "#diagnostics .error"))
    told = browser.find_element("css selector", "#diagnostics .error")
    assert told.text.startswith(f"{EXP}:") and "exq" in told.text
    assert browser.find_element("css selector", "#paper .cm-lintRange-error").text == "exq"
    assert "= exp " in text_of(browser, "Tile IR"), "the last good pane stays"
    assert browser.find_elements("css selector", ".stale[data-pane='Tile IR']")
    assert browser.find_element("id", "state").text.endswith("errors") or "1 error" in browser.page_source
    write(browser, "= exq %shifted", "= exp2 %shifted")
    settled(browser)
    assert "= exp2 " in text_of(browser, "Tile IR")
    assert browser.find_elements("css selector", "#diagnostics button") == []


def test_keys_leave_the_editor_move_the_mark_and_the_splitter(browser: Any, url: str) -> None:
    keys = webdriver.Keys
    opened(browser, url)
    browser.find_element("css selector", ".cm-content").click()
    webdriver.ActionChains(browser).send_keys(keys.ESCAPE).send_keys(keys.TAB).perform()
    assert not browser.execute_script("return document.getElementById('paper').contains(document.activeElement)")
    assert "Tab" in browser.find_element("id", "keys").text, "the key is announced"
    rows = browser.find_element("css selector", "[data-pane='Tile IR'] .rows")
    browser.execute_script("arguments[0].focus()", rows)
    browser.execute_script("pick(arguments[0])", EXP - 1)
    webdriver.ActionChains(browser).send_keys(keys.ARROW_DOWN).perform()
    assert coloured(browser, "Tile IR", EXP) == 1 and coloured(browser, "assembly", EXP) > 0
    marked = browser.execute_script(
        "return getComputedStyle(document.querySelector(`[data-pane='Tile IR'] [data-hue]:not(.on)`)).backgroundColor"
    )
    assert marked == "rgba(0, 0, 0, 0)", "all other lines step back"
    before = browser.execute_script("return document.getElementById('editor').offsetWidth")
    browser.execute_script("document.getElementById('splitter').focus()")
    webdriver.ActionChains(browser).send_keys(keys.ARROW_RIGHT).send_keys(keys.ARROW_RIGHT).perform()
    assert browser.execute_script("return document.getElementById('editor').offsetWidth") > before
    splitter = browser.find_element("id", "splitter")
    webdriver.ActionChains(browser).drag_and_drop_by_offset(splitter, -200, 0).perform()
    assert browser.execute_script("return document.getElementById('editor').offsetWidth") < before


def test_code_outside_of_the_program_is_folded(browser: Any, url: str) -> None:
    opened(browser, url)
    fold = browser.find_element("css selector", "[data-pane='LLVM IR'] details")
    assert fold.get_attribute("open") is None
    begin = browser.find_element("css selector", "[data-pane='LLVM IR'] [data-hue]")
    assert begin.is_displayed() and begin.location["y"] - fold.location["y"] < 200


def test_a_program_is_formatted_explained_and_launched_with_arguments_that_are_filled_in(browser: Any) -> None:
    server = PageServer(page(SOFTMAX))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        opened(browser, server.url)
        press(browser, "LLVM IR", "assembly", "run", "view", "explain")
        assert browser.find_element("id", "arguments").get_attribute("value").startswith("x=f32[64]:rand y=")
        names = [one.text.split()[0] for one in browser.find_elements("css selector", ".pictures figcaption")]
        assert names == ["x", "y"]
        browser.switch_to.frame(browser.find_element("css selector", "[data-pane='view'] iframe"))
        assert browser.find_element("id", "kernel").text == "@softmax"
        browser.switch_to.default_content()
        browser.execute_script("go(arguments[0], 5)", EXP)
        WebDriverWait(browser, SECONDS).until(lambda _: text_of(browser, "explain").startswith("exp\n"))
        write(browser, "    %powers =", "  %powers  =")
        browser.find_element("id", "format").click()
        WebDriverWait(browser, SECONDS).until(
            lambda _: browser.execute_script("return state.text.includes('\\n    %powers = exp')")
        )
        assert faults(browser) == []
    finally:
        browser.get("about:blank")
        server.shutdown()
        server.server_close()


def test_passes_are_chosen_and_launches_are_shown(browser: Any, url: str) -> None:
    opened(browser, url)
    press(browser, "Tile IR", "LLVM IR", "assembly", "passes", "run", "sanitize")
    assert "f32[4, 1000]" in text_of(browser, "run")
    assert text_of(browser, "sanitize") == "nothing found"
    write(
        browser, "%shares = divf %powers", "%unused = addf %powers, %powers : tile<1x1024xf32> %shares = divf %powers"
    )
    WebDriverWait(browser, SECONDS).until(lambda _: "dce: 1 change" in text_of(browser, "passes"))
    assert "addf" in browser.find_element("css selector", "[data-pane='passes'] .old").text
    settled(browser)
    choose(browser, "level", "chosen")
    choose(browser, "passes", "fold")
    WebDriverWait(browser, SECONDS).until(lambda _: text_of(browser, "passes") == "nothing changes")
    settled(browser)
    assert browser.find_element("id", "passes").is_displayed()


def test_a_saved_page_shows_the_same_without_a_server_and_is_opened_again(browser: Any, url: str) -> None:
    opened(browser, url)
    press(browser, "LLVM IR")
    write(browser, "@softmax", "@shared")
    WebDriverWait(browser, SECONDS).until(lambda _: "@shared" in text_of(browser, "Tile IR"))
    settled(browser)
    expected = {name: text_of(browser, name) for name in ("Tile IR", "assembly")}
    browser.find_element("id", "save").click()
    saved: Path = browser.downloads / "shared.html"
    WebDriverWait(browser, SECONDS).until(lambda _: saved.exists())
    browser.get(saved.as_uri())
    assert {name: text_of(browser, name) for name in expected} == expected
    assert browser.execute_script("return editor.state.readOnly")
    browser.find_element("css selector", f"[data-pane='Tile IR'] [data-hue='{EXP}']").click()
    assert coloured(browser, "assembly", EXP) > 0
    assert faults(browser) == []
    browser.get(url)
    WebDriverWait(browser, SECONDS).until(lambda _: "@softmax" in text_of(browser, "Tile IR"))
    assert "@shared" not in text_of(browser, "Tile IR")
    browser.find_element("id", "open").send_keys(str(saved))
    WebDriverWait(browser, SECONDS).until(lambda _: "@shared" in text_of(browser, "Tile IR"))
    other = browser.downloads / "other.html"
    other.write_text(json.dumps({"state": 1}))
    browser.find_element("id", "open").send_keys(str(other))
    WebDriverWait(browser, 20).until(lambda _: "expected a file" in browser.find_element("id", "state").text)
