"""The widget in a real JupyterLab: questions answered by click and key, a cell run again goes on, nothing is lost."""

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

from prefopt import load_study

pytest.importorskip("jupyterlab")

CODE = """import prefopt
from prefopt.frontend import Html
study = prefopt.create_study(prefopt.Space([prefopt.Float("x", 0, 1)]), seed=4, strategy="random",
                             storage="study.db", load_if_exists=True)
study.widget(render=lambda params: Html(f"<b>x is {params['x']:.3f}</b>"))"""


@pytest.fixture
def lab(tmp_path):
    """The address of a JupyterLab with a notebook "study.ipynb" in ``tmp_path``."""
    cell = {"cell_type": "code", "id": "one", "metadata": {}, "source": CODE, "outputs": [], "execution_count": None}
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    book = {"cells": [cell], "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "study.ipynb").write_text(json.dumps(book))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = ["--no-browser", "--allow-root", f"--port={port}", "--port-retries=0", "--IdentityProvider.token=secret"]
    settings += [f"--ServerApp.root_dir={tmp_path}", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    home = {name: str(tmp_path / name) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")}
    with (tmp_path / "lab.log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *settings], stdout=log, stderr=log, env={**os.environ, **home}
        )
        try:
            _wait_for(f"http://127.0.0.1:{port}/api/status?token=secret", process)
            yield f"http://127.0.0.1:{port}/lab/tree/study.ipynb?token=secret"
        finally:
            process.terminate()
            process.wait(30)


def _wait_for(url, process):
    end = time.monotonic() + 120
    while time.monotonic() < end and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=10):
                return
        except OSError:
            time.sleep(0.3)
    pytest.fail("JupyterLab did not start")


@pytest.mark.slow
def test_a_study_in_a_notebook(lab, chromium, tmp_path):
    page = chromium.new_context(viewport={"width": 1300, "height": 950}).new_page()
    page.set_default_timeout(120_000)
    accept = page.locator(".jp-Dialog .jp-mod-accept")
    page.add_locator_handler(accept, lambda: accept.first.click())  # "Select Kernel", if it comes
    page.goto(lab)
    page.get_by_text("| Idle").wait_for()
    editor = page.locator(".jp-Notebook .cm-content").first
    editor.click()
    page.keyboard.press("Control+Enter")
    widget = page.locator(".prefopt")
    widget.locator(".pf-pick").first.wait_for()
    frames = page.frame_locator(".prefopt iframe")
    assert re.fullmatch(r"x is 0\.\d{3}", frames.first.locator("b").inner_text())
    study = load_study(str(tmp_path / "study.db"))

    def answered(count):
        progress = "document.querySelector('.prefopt .pf-progress').textContent"
        page.wait_for_function(f"{progress}.startsWith('{count} ans')")
        assert study.answered == count
        page.wait_for_timeout(500)  # a key is not meant for a question that has just appeared

    page.wait_for_timeout(500)
    widget.locator(".pf-pick").first.click()
    answered(1)
    widget.locator(".pf-title").focus()
    page.keyboard.press("2")
    answered(2)
    widget.locator(".pf-title").focus()
    page.keyboard.press("u")
    answered(1)
    number = widget.get_attribute("data-question")
    editor.click()
    page.keyboard.press("Control+Enter")  # the cell again: the same question
    page.wait_for_timeout(1500)
    page.locator(".prefopt[data-question]").wait_for()
    assert page.locator(".prefopt").get_attribute("data-question") == number
    assert study.answered == 1
    path = os.environ.get("PREFOPT_SCREENSHOTS")
    if path:
        page.screenshot(path=f"{path}/jupyterlab.png")
