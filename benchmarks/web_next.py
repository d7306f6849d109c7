"""From an answer to the next question on the screen: default policy, four parameters, a hundred answers in the study.

    python benchmarks/web_next.py                # over HTTP
    python benchmarks/web_next.py --browser      # and in the system's Chromium (headless)

One rater looks at every question for ``--think`` seconds (1 by default), in which the server drafts what comes next,
then answers. What counts is the time from sending the answer until the next question is there: as JSON over HTTP, or
drawn in the browser from the key that is pressed. The row ``think`` 0 answers at once, so that nothing is ready.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from _common import arguments, print_rows, save_table
from _serving import Connection, Server

from prefopt import Float, Space, create_study

#: The simulated person likes this point best.
IDEAL = {"a": 0.3, "b": 0.7, "c": 0.45, "d": 0.6}
#: Who errs now and then leaves something to gain from more answers; the server ends a study that has enough.
LAPSES = 0.15
#: Questions before those that count: whatever has to be loaded is.
WARM = 2
#: The cards of a question in the page, and what is written on them.
CARDS = ".pf-cards[aria-busy=false]"
ROWS = "box => [...box.querySelectorAll('tr')].map(row => [...row.children].map(cell => cell.textContent))"
#: Presses a key; the milliseconds until another question is drawn, or null if none is.
PRESS = """key => new Promise(done => {
  const page = document.querySelector(".prefopt"), began = performance.now();
  setTimeout(() => done(null), 20000);
  const drawn = new MutationObserver(() => {
    drawn.disconnect();
    requestAnimationFrame(() => done(performance.now() - began));
  });
  drawn.observe(page, { attributes: true, attributeFilter: ["data-question"] });
  document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
})"""


def liking(params: dict[str, float]) -> float:
    """How much the person likes an option."""
    return -sum((params[name] - best) ** 2 for name, best in IDEAL.items())


def make(storage: str, answers: int, seed: int) -> str:
    """A study with so many answers, asked by its own policy; the token of its rater."""
    luck = np.random.default_rng(seed)
    study = create_study(Space([Float(name, 0, 1) for name in IDEAL]), storage=storage, seed=seed, study_name="next")
    rater = study.add_rater("Ann")
    for _ in range(answers):
        query = study.ask(rater)
        study.tell(query, best=query.shown[choice([candidate.params for candidate in query.shown], luck)], rater=rater)
    study.close()
    return str(rater.token)


def choice(options: list[dict[str, float]], luck: np.random.Generator) -> int:
    """The position of the option that the person names."""
    if luck.random() < LAPSES:
        return int(luck.integers(len(options)))
    return int(np.argmax([liking(params) for params in options]))


def preferred(cards: list[dict[str, Any]], luck: np.random.Generator) -> int:
    """The position of the card that the person names, from the names and values written on the cards."""
    return choice([{name: float(str(value).split()[0]) for name, value in card["rows"]} for card in cards], luck)


async def over_http(server: Server, token: str, questions: int, think: float) -> list[float]:
    """Seconds from sending an answer to having the next question."""
    connection, waits, luck = Connection(server.port, token), [], np.random.default_rng(questions)
    _, screen = await connection.call("GET", "/api/screen")
    for _ in range(questions + WARM):
        await asyncio.sleep(think)
        question = screen["question"]
        if question is None:  # there are enough answers
            break
        entry = {"id": secrets.token_hex(8), "question": question["number"], "kind": "best"}
        entry["options"] = [preferred(question["cards"], luck)]
        began = time.monotonic()
        status, said = await connection.call("POST", "/api/answers", entry)
        assert status == 200, said
        _, screen = await connection.call("GET", "/api/screen")
        waits.append(time.monotonic() - began)
    connection.drop()
    return waits[WARM:]


def in_browser(server: Server, token: str, questions: int, think: float) -> list[float]:
    """Seconds from the key that chooses a card until the cards of the next question are drawn."""
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    waits, luck = [], np.random.default_rng(questions)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{server.port}/#{token}")
        for _ in range(questions + WARM):
            page.wait_for_selector(CARDS)
            page.wait_for_timeout(1000 * think)
            cards = [{"rows": card.evaluate(ROWS)} for card in page.query_selector_all(".pf-card")]
            waited = page.evaluate(PRESS, str(preferred(cards, luck) + 1))
            if waited is None:
                break
            waits.append(waited / 1000)
        browser.close()
    return waits[WARM:]


def measured(waits: list[float], **about: Any) -> dict[str, Any]:
    """A row of the table."""
    quantiles = {
        f"{name}_ms": round(1000 * float(np.quantile(waits, q)), 1) for name, q in (("p50", 0.5), ("p95", 0.95))
    }
    return {**about, "questions": len(waits), **quantiles, "largest_ms": round(1000 * max(waits), 1)}


def run(answers: int, questions: int, think: float, browser: bool, seed: int) -> dict[str, Any]:
    """One row: a new study, a new server."""
    with tempfile.TemporaryDirectory() as folder:
        storage = str(Path(folder) / "study.db")
        token = make(storage, answers, seed)
        server = Server(storage, "next")
        try:
            if browser:
                waits = in_browser(server, token, questions, think)
            else:
                waits = asyncio.run(over_http(server, token, questions, think))
            return measured(waits, shown="browser" if browser else "http", answers=answers, think=think)
        finally:
            server.end()


def main() -> None:
    """Run, print and save."""
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--answers", type=int, default=100, help="in the study before what is measured")
    parser.add_argument("--questions", type=int, default=40, help="that are measured")
    parser.add_argument("--think", type=float, default=1.0, help="seconds the rater looks at a question")
    parser.add_argument("--browser", action="store_true", help="also in Chromium, headless")
    given = parser.parse_args()
    answers, questions = (10, 4) if given.quick else (given.answers, given.questions)
    rows, busy = [], os.getloadavg()[0]
    runs = [(given.think, False), (0.0, False), *([(given.think, True)] if given.browser else [])]
    for think, browser in runs:
        rows.append(run(answers, questions, think, browser, given.seed))
        print_rows(rows[-1:])
    manifest = {"seed": given.seed, "strategy": "the default", "parameters": len(IDEAL), "cores": os.cpu_count()}
    save_table(given.out / "web_next.csv", rows, manifest | {"load_before_and_after": [busy, os.getloadavg()[0]]})


if __name__ == "__main__":
    main()
