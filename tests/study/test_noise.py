"""What utility models say of the raters of a study."""

import numpy as np
import pytest

from prefopt import Arms, Grid, create_study
from prefopt.errors import StudyError


def asked(directions, n=30, errors=(0.0, 0.0)):
    study = create_study(Grid.regular(12), seed=3, strategy="random", repeats=0)
    rng = np.random.default_rng(1)
    for k in range(n * len(directions)):
        which = k % len(directions)
        query = study.ask("abc"[which])
        ordered = sorted(query.ids, reverse=directions[which] > 0)
        study.tell(query, best=ordered[rng.random() < errors[which]])
    return study


def test_a_hasty_rater_is_noisier():
    found = asked((1, 1), errors=(0.0, 0.35)).rater_model()
    assert list(found.noise) == ["a", "b"] and found.noise["b"] > 2 * found.noise["a"]
    assert found.lines()[0].startswith("a: noise 0.")


def test_raters_who_want_opposite_things():
    alike, opposite = asked((1, 1)).rater_model(), asked((1, -1)).rater_model()
    assert alike.deviation < opposite.deviation and opposite.deviation >= 1
    assert "times as much as what is shared" in opposite.lines()[-1]


def test_what_it_needs():
    with pytest.raises(StudyError, match="no answer yet"):
        create_study(Grid.regular(4), seed=1, strategy="random").rater_model()
    with pytest.raises(StudyError, match="no neighbours"):
        create_study(Arms(4), seed=1).rater_model()
