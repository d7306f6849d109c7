"""The widget answers the module's messages as the server does, and nothing it is sent ends the kernel's work."""

import warnings

import numpy as np
import pytest

from prefopt import Float, Space, create_study, load_study
from prefopt.frontend import Html
from prefopt.widget import StudyWidget


def make(**more):
    return create_study(["tea", "coffee", "cocoa"], seed=3, **more)


class Sent(StudyWidget):
    """Keeps what it sends."""

    def __init__(self, *args, **kwargs):
        self.sent = []
        super().__init__(*args, **kwargs)

    def send(self, content, buffers=None):
        self.sent.append(content)

    def call(self, name, entry=None):
        self._called(self, {"call": len(self.sent), "name": name, "entry": entry}, [])
        return self.sent[-1]


def best(screen, position=0, mark="a"):
    return {"id": mark, "question": screen["question"]["number"], "kind": "best", "options": [position], "seconds": 1.5}


def test_a_question_an_answer_twice_and_undo():
    study = make()
    widget = Sent(study)
    first = widget.call("ask")["reply"]
    assert first["state"] == "question" and len(first["question"]["cards"]) == 2
    assert widget.call("ask")["reply"] == first  # running the cell again shows the same question
    for _ in range(2):
        assert widget.call("answer", best(first))["reply"] is None
    assert study.answered == widget.answered == 1
    second = widget.call("ask")["reply"]
    assert second["last"] == first["question"]["number"] and second["progress"]["answered"] == 1
    for _ in range(2):
        widget.call("undo", {"id": "b", "question": second["last"]})
    assert study.answered == widget.answered == 0


def test_the_option_named_is_the_one_on_the_screen():
    study = make()
    widget = Sent(study)
    screen = widget.call("ask")["reply"]
    shown = [card["text"] for card in screen["question"]["cards"]]
    widget.call("answer", best(screen, 1))
    row = study.history()[0]
    assert row["answer"] == "best" and study.recommend().params == shown[1]


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("answer", {"id": "x", "question": 99, "kind": "best", "options": [0]}),
        ("answer", {"id": "x", "question": 1, "kind": "best", "options": [7]}),
        ("answer", {}),
        ("undo", None),
        ("format the disk", None),
    ],
)
def test_errors_are_told_to_the_page(name, entry):
    widget = Sent(make())
    widget.call("ask")
    reply = widget.call(name, entry)
    assert reply["error"]["final"] and reply["error"]["message"]
    assert widget.call("ask")["reply"]["state"] == "question"


def test_a_study_that_has_enough_or_pauses_says_so(tmp_path):
    study = make(budget=1)
    widget = Sent(study)
    widget.call("answer", best(widget.call("ask")["reply"]))
    assert widget.call("ask")["reply"]["state"] == "enough"
    other = make()
    other.pause("lunch")
    paused = Sent(other).call("ask")["reply"]
    assert paused["state"] == "paused" and "lunch" in paused["message"]


def test_options_are_rendered_and_a_failing_render_function_is_survived():
    study = create_study(Space([Float("x", 0, 1)]), seed=1)
    widget = Sent(study, render=lambda params: Html(f"<b>{params['x']}</b>"))
    card = widget.call("ask")["reply"]["question"]["cards"][0]
    assert card["kind"] == "html" and card["url"].startswith("data:text/html;base64,")
    broken = Sent(study, render=lambda params: 1 / 0)
    assert "could not be shown" in broken.call("ask")["reply"]["question"]["cards"][0]["text"]
    assert "ZeroDivisionError" in broken.drawings.problem


def test_it_goes_on_where_the_file_is(tmp_path):
    path = str(tmp_path / "study.db")
    study = create_study(["a", "b", "c"], seed=1, storage=path)
    before = Sent(study).call("ask")["reply"]
    again = Sent(load_study(path)).call("ask")["reply"]
    assert again == before


def test_studies_show_themselves():
    import matplotlib

    matplotlib.use("Agg")
    study = create_study(Space([Float("x", 0, 1), Float("y", 1e-3, 1, log=True)]), seed=1)
    assert isinstance(study.widget(), StudyWidget)
    for _ in range(6):
        query = study.ask()
        values = [candidate.params["x"] for candidate in query.shown]
        study.tell(query, best=query.shown[int(np.argmax(values))])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = study.plot()
    assert len([ax for ax in figure.axes if ax.get_visible()]) >= 4
