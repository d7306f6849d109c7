"""The pages in a real browser: a whole session by keyboard, lost networks, media, the admin's page."""

import json
import struct
import wave

import pytest

from prefopt.frontend import Html, Markdown

pytest.importorskip("fastapi")
pytest.importorskip("playwright")
pytestmark = pytest.mark.slow

SETTLED = 400  # ms: a key sooner after a question has appeared cannot be meant for it
SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 3"><rect width="4" height="3" fill="{}"/></svg>'


def open_page(page, server, rater):
    page.goto(f"{server.origin}/#{rater.token}")
    return Rater(page)


class Rater:
    """A person before the page."""

    def __init__(self, page):
        self.page = page
        self.ready()

    def ready(self):
        self.page.wait_for_selector(".pf-cards[aria-busy=false]")
        self.page.wait_for_timeout(SETTLED)
        return self.number()

    def number(self):
        return int(self.page.get_attribute(".prefopt", "data-question"))

    def press(self, key, moves=True):
        before = self.number()
        self.page.keyboard.press(key)
        if moves:
            self.page.wait_for_function("n => document.querySelector('.prefopt').dataset.question != n", arg=before)
            self.ready()
        return before


def answers(study):
    return [row for row in study.history() if row["status"] in ("answered", "skipped")]


def test_fifteen_questions_by_keyboard_only(serve, make_study, page):
    study = make_study(query_size=3, budget=30)
    with serve(study) as server:
        rater = open_page(page, server, study.add_rater("Ann"))
        keys = ["1", "2", "3", "=", "0", "1", "2", "3", "1"]
        asked = [rater.press(key) for key in keys]
        assert [row["answer"] for row in answers(study)] == ["best"] * 3 + ["tie"] * 2 + ["best"] * 4
        for _ in range(2):  # undo two
            rater.press("u")
        assert rater.number() == asked[-2] and study.answered == 7
        page.keyboard.press("w")
        rater.press("3")
        assert answers(study)[-1]["answer"] == "worst"
        page.keyboard.press("r")
        page.keyboard.press("2")
        rater.press("1")
        assert answers(study)[-1]["answer"] == "ranking"
        shown, named = answers(study)[-1]["shown"], answers(study)[-1]["named"]
        assert [shown.index(i) for i in named] == [1, 0, 2]
        page.keyboard.press("s")  # skip one, with a reason, by keys
        page.wait_for_selector("dialog[open]")
        page.keyboard.press("ArrowDown")
        before = rater.number()
        page.keyboard.press("Enter")
        page.wait_for_function("n => document.querySelector('.prefopt').dataset.question != n", arg=before)
        rater.ready()
        assert answers(study)[-1]["reason"] == "I could not see or hear it properly"
        page.keyboard.press("?")
        page.wait_for_selector("dialog[open]")
        page.keyboard.press("Escape")
        page.wait_for_selector("dialog", state="detached")
        for _ in range(6):
            rater.press("1")
        assert study.answered == 15 and "15 answered, about 15 more" in page.inner_text(".pf-progress")
        assert all(row["seconds"] >= 0.3 for row in answers(study))


def test_a_reloaded_page_shows_the_same_question(serve, make_study, page):
    study = make_study()
    with serve(study) as server:
        rater = open_page(page, server, study.add_rater("Ann"))
        rater.press("1")
        number, cards = rater.number(), page.inner_text(".pf-cards")
        page.reload()
        rater.ready()
        assert (rater.number(), page.inner_text(".pf-cards")) == (number, cards) and study.answered == 1


def test_a_double_click_is_one_answer(serve, make_study, page):
    study = make_study()
    with serve(study) as server:
        rater = open_page(page, server, study.add_rater("Ann"))
        for _ in range(3):
            before = rater.number()
            page.dblclick(".pf-card:nth-child(2) .pf-pick")
            page.wait_for_function("n => document.querySelector('.prefopt').dataset.question != n", arg=before)
            rater.ready()
        assert study.answered == 3 and len(answers(study)) == 3


def test_an_answer_survives_a_lost_network_and_a_closed_page(serve, make_study, page):
    study = make_study()
    with serve(study) as server:
        rater = open_page(page, server, study.add_rater("Ann"))
        page.context.set_offline(True)
        asked = rater.press("2", moves=False)
        page.wait_for_selector(".pf-notice[data-kind=waiting]")
        assert "Your answer is kept" in page.inner_text(".pf-notice") and study.answered == 0
        page.context.set_offline(False)
        page.wait_for_function("n => document.querySelector('.prefopt').dataset.question != n", arg=asked)
        assert study.answered == 1 and answers(study)[0]["question"] == asked
        rater.ready()
        # the reply is lost, not the answer: it is sent again and counts once
        page.route("**/api/answers", lambda route: (route.fetch(), route.abort()))
        asked = rater.press("1", moves=False)
        page.wait_for_selector(".pf-notice[data-kind=waiting]")
        page.unroute("**/api/answers")
        page.close()  # and the page is closed before it can be
        again = page.context.new_page()
        again.goto(f"{server.origin}/#{study.renew_token('Ann').token}")
        again.wait_for_selector(".pf-cards[aria-busy=false]")
        assert study.answered == 2 and int(again.get_attribute(".prefopt", "data-question")) != asked


def test_an_unsent_answer_is_sent_by_the_next_page(serve, make_study, page):
    study = make_study()
    ann = study.add_rater("Ann")
    with serve(study) as server:
        rater = open_page(page, server, ann)
        page.route("**/api/**", lambda route: route.abort())
        asked = rater.press("1", moves=False)
        page.wait_for_selector(".pf-notice[data-kind=waiting]")
        page.close()
        again = page.context.new_page()
        again.goto(f"{server.origin}/#{ann.token}")
        again.wait_for_selector(".pf-cards[aria-busy=false]")
        assert [row["question"] for row in answers(study)] == [asked]
        kept = again.evaluate("JSON.stringify(localStorage)")
        assert ann.token not in kept and "outbox" not in kept


def test_two_raters_at_once(serve, make_study, page, chromium):
    study = make_study()
    with serve(study) as server:
        other = chromium.new_context().new_page()
        ann, bob = open_page(page, server, study.add_rater("Ann")), open_page(other, server, study.add_rater("Bob"))
        for _ in range(3):
            assert ann.number() != bob.number()
            ann.press("1")
            bob.press("2")
        other.context.close()
        assert sorted(row["rater"] for row in answers(study)) == ["rater 1"] * 3 + ["rater 2"] * 3


def test_a_link_that_is_none(serve, make_study, page):
    with serve(make_study()) as server:
        page.goto(server.origin)
        assert "not complete" in page.inner_text("main")
        page.goto(f"{server.origin}/#nobody-has-this-one")
        page.wait_for_selector(".pf-plain")
        assert "not valid" in page.inner_text("main")


def test_pause_and_enough_are_said(serve, make_study, page):
    study = make_study(budget=2)
    with serve(study) as server:
        rater = open_page(page, server, study.add_rater("Ann"))
        rater.press("1")
        study.pause("lunch")
        page.reload()
        page.wait_for_selector(".pf-plain")
        assert "lunch" in page.inner_text("main")
        study.resume()
        rater.page.wait_for_selector(".pf-cards[aria-busy=false]", timeout=15000)  # by itself
        rater.ready()
        page.keyboard.press("1")
        page.wait_for_selector(".pf-plain")
        assert "that is enough" in page.inner_text("main")
        page.keyboard.press("u")
        rater.ready()
        assert study.answered == 1


def test_a_break_after_so_many_questions(serve, make_study, page):
    study = make_study()
    with serve(study) as server:
        page.route("**/rate.js", lambda route: route.fulfill(
            body=route.fetch().text().replace("{ key:", "{ breakEvery: 2, key:"), content_type="text/javascript"
        ))  # fmt: skip
        rater = open_page(page, server, study.add_rater("Ann"))
        rater.press("1")
        page.keyboard.press("1")
        page.wait_for_selector(".pf-plain")
        assert "break" in page.inner_text(".pf-title") and page.evaluate("document.activeElement.tagName") == "BUTTON"
        page.keyboard.press("Enter")
        rater.ready()
        rater.press("1")
        assert study.answered == 3


def tone(path, hertz):
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, 8000, 0, "NONE", ""))
        file.writeframes(b"".join(struct.pack("<h", int(9000 * ((i * hertz // 4000) % 2))) for i in range(32000)))
    return path


def test_one_sound_plays_at_a_time(serve, make_study, page, tmp_path):
    study = make_study()
    with serve(study, render=lambda item: tone(tmp_path / f"{item}.wav", 200 + 40 * len(item))) as server:
        rater = open_page(page, server, study.add_rater("Ann"))
        assert page.locator("audio").count() == 2
        playing = "[...document.querySelectorAll('audio')].map(a => !a.paused)"
        page.keyboard.press("Shift+Digit1")
        page.wait_for_function(f"() => JSON.stringify({playing}) == '[true,false]'")
        page.keyboard.press("Shift+Digit2")
        page.wait_for_function(f"() => JSON.stringify({playing}) == '[false,true]'")
        page.evaluate("document.querySelectorAll('audio')[0].play()")
        page.wait_for_function(f"() => JSON.stringify({playing}) == '[true,false]'")
        rater.press("1")
        assert page.evaluate(playing) == [False, False]


def test_pictures_films_texts_and_pages(serve, make_study, page, tmp_path):
    forms = {
        "tea": SVG.format("teal").encode(),
        "coffee": Markdown("**strong** <script>document.title = 'owned'</script>"),
        "cocoa": Html("<body style='background:#fed'><p id=x>page</p><script>document.body.append('ran')</script>"),
        "water": "plain words <b>",
        "milk": {"fat": 3.5, "cold": "yes"},
    }
    study = make_study(query_size=5)
    with serve(study, render=forms.get) as server:
        open_page(page, server, study.add_rater("Ann"))
        assert page.evaluate("document.querySelector('img').naturalWidth") > 0
        assert page.inner_text(".pf-markdown strong") == "strong"
        assert "document.title" in page.inner_text(".pf-markdown") and page.title() == "Which is better?"
        assert page.inner_text(".pf-text") == "plain words <b>"
        assert page.inner_text(".pf-table th") == "fat"
        frame = page.frame_locator("iframe")
        assert "ran" in frame.locator("body").inner_text()  # scripts run inside, and reach nothing


def test_a_page_of_an_option_reaches_nothing(serve, make_study, chromium):
    probe = """<p id=out></p><script>
      const tell = (text) => { document.getElementById("out").textContent += text + ";" };
      const attempt = (name, run) => { try { run(); tell(name + " open") } catch { tell(name + " shut") } };
      attempt("parent", () => parent.document.title);
      attempt("storage", () => localStorage.length);
      attempt("cookie", () => document.cookie);
      fetch("/api/screen").then(() => tell("net open"), () => tell("net shut"));
    </script>"""
    study = make_study()
    context = chromium.new_context()
    page = context.new_page()
    with serve(study, render=lambda item: Html(probe)) as server:
        open_page(page, server, study.add_rater("Ann"))
        frame = page.frame_locator("iframe").first
        page.wait_for_timeout(300)
        assert frame.locator("#out").inner_text() == "parent shut;storage shut;cookie shut;net shut;"
        page.goto(server.origin + page.get_attribute("iframe", "src"))  # opened on its own
        page.wait_for_timeout(300)
        assert page.inner_text("#out") == "storage shut;cookie shut;net shut;".join(["parent open;", ""])
    context.close()


def test_a_picture_that_is_broken_is_said(serve, make_study, page):
    study = make_study()
    with serve(study, render=lambda item: b"\x89PNG not really") as server:
        open_page(page, server, study.add_rater("Ann"))
        assert "could not be shown" in page.inner_text(".pf-cards")


def test_the_admin_page(serve, make_study, page):
    study = make_study(budget=30)
    ann = study.add_rater("Ann")
    for _ in range(6):
        query = study.ask(ann)
        study.tell(query, best=query.shown[0], seconds=2.0)
    with serve(study) as server:
        page.goto(f"{server.origin}/admin#{server.admin}")
        page.wait_for_selector(".best")
        assert "6 of 30 planned answers" in page.inner_text("main")
        page.wait_for_selector(".bars meter")
        page.wait_for_selector("svg.chart")
        page.fill("[aria-label='Name of a new rater']", "Bob")
        page.keyboard.press("Enter")
        link = page.inner_text(".link")
        page.wait_for_selector("td:has-text('Bob')")  # at once, though the cursor is still in the form
        assert link.startswith(server.origin + "/#") and study.rater_by_token(link.split("#")[1]).name == "Bob"
        page.click("text=Undo last answer")
        page.wait_for_selector("text=The last answer is taken back")
        assert study.answered == 5
        page.click("[aria-label='Restore the answer to question 6']")
        page.wait_for_function("() => document.body.innerText.includes('6 of 30 planned')")
        page.click("[aria-label='Remove: Ann']")
        page.keyboard.type("wrong glasses")
        page.keyboard.press("Enter")
        page.wait_for_selector("[aria-label='Restore: Ann']")
        assert study.answered == 0 and study.raters[0].reason == "wrong glasses"
        page.click("[aria-label='Restore: Ann']")
        page.wait_for_selector("[aria-label='Remove: Ann']")
        page.click("text=Pause")
        page.keyboard.type("lunch")
        page.keyboard.press("Enter")
        page.wait_for_selector("text=Paused: lunch")
        page.click("text=Resume")
        page.wait_for_selector("button:has-text('Pause')")
        with page.expect_download() as download:
            page.click("text=Export JSON")
        assert json.loads(download.value.path().read_text())["study"]["name"] == "study"
        assert study.paused is None and study.answered == 6


def test_a_blind_validation_from_the_admin_page(serve, make_study, page, chromium):
    study = make_study(budget=3)
    ann, other = study.add_rater("Ann"), chromium.new_context().new_page()
    with serve(study) as server:
        rater = open_page(other, server, ann)
        rater.press("1")
        rater.press("1")
        other.keyboard.press("1")
        other.wait_for_selector(".pf-plain")  # all planned answers are there
        page.goto(f"{server.origin}/admin#{server.admin}")
        page.get_by_label("Comparisons with each rival").fill("2")
        page.keyboard.press("Enter")
        page.wait_for_selector("text=none of 4 comparisons has an answer yet")
        other.reload()  # the page of a rater looks for itself too, now and then
        for left in range(4, 0, -1):
            rater.ready()
            assert study.validation().planned - study.validation().answered == left
            other.keyboard.press("1") if left == 1 else rater.press("1")
        other.wait_for_selector(".pf-plain")
        page.wait_for_selector("text=the recommendation won")
        page.get_by_role("button", name="Begin a round").wait_for()
        assert study.validation().over and study.answered == 3
        page.get_by_role("button", name="Begin a round").click()
        page.get_by_role("button", name="End the round").click()
        page.get_by_role("button", name="Begin a round").wait_for()
        assert study.validation().over and study.validation().answered == 0
        other.context.close()


def test_the_module_in_a_notebook_speaks_over_a_comm(serve, make_study, page):
    with serve(make_study()) as server:
        page.goto(server.origin)
        page.evaluate("""async () => {
          const module = await import("/ask.js");
          const el = document.body.appendChild(document.createElement("div"));
          el.id = "cell";
          let receive, number = 1;
          window.sent = [];
          const reply = { ask: () => ({ state: "question", progress: { answered: number - 1, more: 3 }, last: null,
            question: { number, text: "Which?", cards: [{ kind: "text", text: "a" }, { kind: "text", text: "b" }] } }),
            answer: () => { number += 1; return {}; } };
          const model = { get: () => "cell-1", on: (_, f) => (receive = f),
            send: (m) => {
              sent.push(m);
              setTimeout(() => receive({ call: m.call, reply: reply[m.name](m.entry) }), 5);
            } };
          module.default.render({ model, el });
        }""")
        page.wait_for_selector("#cell .pf-cards[aria-busy=false]")
        page.wait_for_timeout(SETTLED)
        page.keyboard.press("1")  # not for the cell: it has not the focus
        page.click("#cell .pf-card:nth-child(2) .pf-pick")
        page.wait_for_function("() => document.querySelector('#cell').dataset.question == '2'")
        sent = page.evaluate("sent.map(m => [m.name, m.entry?.kind, m.entry?.options])")
        assert ["answer", "best", [1]] in sent and sum(m[0] == "answer" for m in sent) == 1
