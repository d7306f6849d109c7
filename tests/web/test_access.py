"""People who see with their ears, or have no mouse: what axe-core finds, and what keys reach."""

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("playwright")
axe_playwright_python = pytest.importorskip("axe_playwright_python.sync_playwright")

SVG = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 3"><rect width="4" height="3" fill="teal"/></svg>'


def serious(page):
    """What axe-core finds of impact serious or critical, with the element."""
    found = axe_playwright_python.Axe().run(page).response["violations"]
    return [
        (v["id"], node["html"][:200], node["failureSummary"][:300])
        for v in found
        if v["impact"] in ("serious", "critical")
        for node in v["nodes"]
    ]


def reached(page, most=60):
    """The names of what Tab reaches, in order, from the top of the page around once."""
    page.evaluate("document.activeElement.blur()")
    names = []
    for _ in range(most):
        page.keyboard.press("Tab")
        name = page.evaluate(
            "(() => { const e = document.activeElement; return e === document.body ? '' : "
            "e.getAttribute('aria-label') || e.labels?.[0]?.innerText.trim() || e.innerText.trim() || e.tagName; })()"
        )
        if name in names and name == names[0]:
            break
        names.append(name)
    return names


@pytest.fixture(params=["light", "dark"])
def sight(request, chromium):
    context = chromium.new_context(color_scheme=request.param, viewport={"width": 1000, "height": 900}, bypass_csp=True)
    yield context.new_page()
    context.close()


@pytest.mark.slow
@pytest.mark.parametrize("size", [2, 4])
def test_the_question_has_no_serious_barrier_and_keys_reach_everything(serve, make_study, sight, size):
    study = make_study(query_size=size, budget=9)
    render = None if size == 2 else (lambda item: {"tea": SVG, "coffee": {"dose": 3.0}}.get(item, item))
    with serve(study, render=render) as server:
        sight.goto(f"{server.origin}/#{study.add_rater('Ann').token}")
        sight.wait_for_selector(".pf-cards[aria-busy=false]")
        assert serious(sight) == []
        names = " | ".join(reached(sight))
        for number in range(1, size + 1):
            assert f"Option {number}: " in names
        for action in ("About the same", "Skip", "Keys", *(["Best", "Worst", "Ranking"] if size > 2 else [])):
            assert action in names
        assert sight.get_attribute("html", "lang") == "en" and sight.locator("h1").count() == 1
        sight.keyboard.press("s")
        sight.wait_for_selector("dialog[open]")
        assert serious(sight) == []
        sight.keyboard.press("Escape")
        sight.keyboard.press("?")
        sight.wait_for_selector("dialog[open]")
        assert serious(sight) == []


@pytest.mark.slow
def test_screens_without_a_question_have_no_serious_barrier(serve, make_study, sight):
    study = make_study()
    ann = study.add_rater("Ann")
    study.pause("lunch")
    with serve(study) as server:
        sight.goto(f"{server.origin}/#{ann.token}")
        sight.wait_for_selector(".pf-plain")
        assert serious(sight) == []


@pytest.mark.slow
def test_the_admin_page_has_no_serious_barrier_and_keys_reach_everything(serve, make_study, sight):
    from prefopt import Categorical, Float, Space

    study = make_study(Space([Float("x", 0, 1, step=0.25), Float("y", 0, 1, step=0.25), Categorical("c", ["u", "v"])]))
    ann = study.add_rater("Ann")
    for _ in range(4):
        query = study.ask(ann)
        study.tell(query, best=query.shown[0], seconds=1.0)
    study.undo()
    with serve(study) as server:
        sight.goto(f"{server.origin}/admin#{server.admin}")
        sight.wait_for_function("() => document.querySelectorAll('svg.chart').length > 8")
        assert serious(sight) == []
        names = " | ".join(reached(sight))
        for action in ("Pause", "Undo last answer", "Export CSV", "Export JSON", "New link: Ann", "Remove: Ann"):
            assert action in names
        for action in ("Erase: Ann", "Name of a new rater", "Add a rater", "Remove the answer to question 3"):
            assert action in names
        assert "Restore the answer to question 4" in names
        assert "Comparisons with each rival" in names and "Begin a round" in names
        sight.get_by_role("button", name="Begin a round").focus()
        sight.keyboard.press("Enter")
        sight.get_by_role("button", name="End the round").wait_for()
        assert serious(sight) == []


def test_the_tree_that_a_screen_reader_reads(serve, make_study, page):
    study = make_study()
    with serve(study) as server:
        page.goto(f"{server.origin}/#{study.add_rater('Ann').token}")
        page.wait_for_selector(".pf-cards[aria-busy=false]")
        tree = page.locator("main").aria_snapshot()
        assert 'heading "Which is better?" [level=1]' in tree
        assert 'group "Options"' in tree and 'region "Option 1"' in tree
        assert 'button "Option 1: Better"' in tree and 'button "Option 2: Better"' in tree
        assert "status" in tree and "0 answered" in tree


def test_the_check_sees_a_barrier(chromium):
    page = chromium.new_page()
    page.set_content("<html lang=en><title>x</title><main><img src=x><button></button></main></html>")
    assert {name for name, *_ in serious(page)} == {"image-alt", "button-name"}
    page.close()
