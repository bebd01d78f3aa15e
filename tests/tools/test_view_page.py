"""The page of a launch in a real browser: every panel is drawn, and they follow one selection."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from launches import race

import tileir

webdriver = pytest.importorskip("selenium.webdriver", reason="the page is tested in a browser that selenium drives")
WebDriverWait = pytest.importorskip("selenium.webdriver.support.ui").WebDriverWait
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
if CHROMIUM is None or DRIVER is None:
    pytest.skip("the page is tested in Chromium, which is not here", allow_module_level=True)

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--window-size=1280,900",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("pages")
    kernel, arrays = race()
    made = {"race": tileir.view(kernel, 4, *arrays)}
    gemm = tileir.load(ROOT / "examples/gemm_views.mlir")["gemm_views"]
    a, b, c = np.ones((256, 128), np.float16), np.ones((256, 128), np.float16), np.zeros((256, 256), np.float32)
    made["gemm"] = tileir.view(gemm, (2, 2), a, b, c, 256, 256, 128, 128, 128, 256, time=True)
    return {name: found.save(folder / f"{name}.html").as_uri() for name, found in made.items()}


def picture(browser: Any, array: int) -> dict[str, int]:
    """Return how many cells of an array have each colour."""
    script = """
      const canvas = document.querySelectorAll("#arrays canvas")[arguments[0]], counts = {};
      const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
      for (let at = 0; at < data.length; at += 4) {
        const name = data.slice(at, at + 3).join();
        counts[name] = (counts[name] ?? 0) + 1;
      }
      return counts;
    """
    return browser.execute_script(script, array)


def faults(browser: Any) -> list[object]:
    """Return the page's complaints, except that the tests read pictures too often."""
    return [entry for entry in browser.get_log("browser") if "getImageData" not in entry["message"]]


@pytest.mark.parametrize("name", ["race", "gemm"])
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 3840])
def test_every_panel_is_drawn_without_a_fault(
    browser: Any, pages: dict[str, str], name: str, theme: str, width: int
) -> None:
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": theme}]}
    )
    size = {"width": width, "height": 1200, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get(pages[name])
    for panel in ("source", "grid", "arrays", "values", "tokens", "findings"):
        box = browser.execute_script(
            "return document.getElementById(arguments[0]).getBoundingClientRect().toJSON()", panel
        )
        assert box["width"] > 20 and box["height"] > 8, panel
        assert box["right"] <= width + 1 or panel == "source", panel
    assert faults(browser) == []


def test_a_tile_block_is_chosen_in_the_grid_and_in_an_array(browser: Any, pages: dict[str, str]) -> None:
    browser.get(pages["gemm"])
    whole = picture(browser, 0)
    grid = browser.find_element("id", "grid")
    webdriver.ActionChains(browser).move_to_element_with_offset(
        grid, 10 - grid.size["width"] // 2, 10 - grid.size["height"] // 2
    ).click().perform()
    assert "tile block (0, 0, 0)" in browser.find_element("id", "selection").text
    own = picture(browser, 0)
    assert own != whole
    canvas = browser.find_elements("css selector", "#arrays canvas")[2]
    corner = canvas.size["width"] // 2 - 4, canvas.size["height"] // 2 - 4
    webdriver.ActionChains(browser).move_to_element_with_offset(canvas, *corner).perform()
    assert (
        "C[25" in browser.find_element("id", "array-text").text
        and "(1, 1, 0)" in browser.find_element("id", "array-text").text
    )
    webdriver.ActionChains(browser).click().perform()
    assert "tile block (1, 1, 0)" in browser.find_element("id", "selection").text
    browser.find_element("id", "clear").click()
    assert picture(browser, 0) == whole


def test_a_line_chooses_its_operation_everywhere(browser: Any, pages: dict[str, str]) -> None:
    browser.get(pages["race"])
    browser.find_element("xpath", "//tr[contains(@class,'has')][td[contains(., 'load_ptr_tko weak %at')]]").click()
    assert browser.find_element("id", "selection").text == "load_ptr_tko"
    assert len(browser.find_elements("css selector", "#source tr.on")) == 1
    text = browser.find_element("id", "values").text
    assert "load_ptr_tko" in text and "addf" not in text
    assert browser.find_element("id", "turn").get_attribute("max") == "3"
    untouched = picture(browser, 1)
    assert len(untouched) == 1, "the line does not touch the total"


def test_a_finding_leads_to_its_lines_and_tile_block(browser: Any, pages: dict[str, str]) -> None:
    browser.get(pages["race"])
    assert len(browser.find_elements("css selector", "#source tr.error")) == 2
    browser.find_elements("css selector", ".finding")[0].click()
    assert "tile block" in browser.find_element("id", "selection").text
    assert len(browser.find_elements("css selector", "#source tr.on")) == 2


def test_the_time_of_lines_is_a_column_where_there_is_one(browser: Any, pages: dict[str, str]) -> None:
    shown = {}
    for name in pages:
        browser.get(pages[name])
        row = browser.find_element("css selector", "#source tr.has")
        shown[name] = browser.find_element("id", "time").is_displayed(), len(row.find_elements("tag name", "td"))
    assert shown["race"] == (False, 5)
    if sys.platform.startswith("linux"):
        assert shown["gemm"] == (True, 6)
        browser.get(pages["gemm"])
        choice = browser.find_element("css selector", "#metric")
        assert "seconds on native code" in choice.text


def test_the_order_plays(browser: Any, pages: dict[str, str]) -> None:
    browser.get(pages["race"])
    browser.find_element("id", "play").click()
    assert browser.find_element("id", "play").text == "stop"
    WebDriverWait(browser, 20).until(lambda driver: driver.find_element("id", "play").text == "play")
    assert "(3, 0, 0)" in browser.find_element("id", "selection").text
    assert faults(browser) == []
