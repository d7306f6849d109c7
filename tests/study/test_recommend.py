"""What a recommendation says, and how much an answer counts in it."""

import numpy as np
import pytest

from prefopt import Grid, create_study
from prefopt.answer import Answer
from prefopt.data import Tally
from prefopt.environments.person import Person, utility_environment
from prefopt.seeding import stream
from prefopt.study.question import Candidate
from prefopt.study.recommend import Recommendation, Standing, alone, duels_worth


@pytest.mark.parametrize(
    ("answer", "worth"),
    [
        (Answer.best(0, 2), 1),
        (Answer.best(0, 5), 2 / 5),
        (Answer.worst(3, 5), 2 / 5),
        (Answer.ranking([1, 0, 2, 3, 4], 5), 3 / 6),
        (Answer.ranking([1, 4], 5), 1),
        (Answer.ranking([1], 5, below=True), 2 / 5),
        (Answer.tie(4), 2 / 4),
        (Answer.tie(2), 1),
        (Answer.pairs([[0, 1, 1], [0, 0, 1], [0, 0, 0]]), 1),
    ],
)
def test_what_one_answer_says_is_not_counted_as_many(answer, worth):
    assert duels_worth(answer) == pytest.approx(worth)


def test_choices_among_four_are_not_taken_for_three_duels():
    """The best of four drawn at random; every option on its own."""
    person = utility_environment("eight", Grid.regular(8), -np.abs(np.arange(8) - 5) / 2, Person(feedback="winner"))
    rows = []
    for seed in range(150):
        rng, plain, counted = stream(seed, 1), Tally.empty(8), Tally.empty(8)
        for t in range(1, 41):
            slate = rng.permutation(8)[:4]
            answer = person.answer(slate, t, rng)
            plain.add(slate, answer.wins)
            counted.add(slate, duels_worth(answer) * answer.wins)
            if t in (10, 20, 40):
                choice = int(np.argmax((counted.wins + 1) / (counted.tries + 2)))
                for tally in (plain, counted):
                    best = alone(tally.tries, tally.wins, rng, among=np.ones(8, dtype=bool))[2]
                    rows.append((best[choice], choice == person.best))
    stated, right = np.array(rows, dtype=float).T.reshape(2, -1, 2)
    too_sure = np.mean(stated - right, axis=0)  # 450 cases each; standard errors of 0.02
    assert too_sure[1] < 0.05
    assert too_sure[0] - too_sure[1] > 0.05


def standing(item, mean, sd, best):
    return Standing(Candidate(0, item), mean, sd, best)


def test_a_recommendation_reads_in_a_few_lines():
    candidate, others = Candidate(3, {"dose": 14.5, "water": "soft"}), (standing("b", 0.6, 0.1, 0.2),)
    found = Recommendation(candidate, 0.712, 0.1, 0.62, "all 26 options", "share won", others)
    assert str(found).splitlines() == [
        "dose = 14.5, water = soft: 62% sure that it is the best of all 26 options",
        "share won: 0.71 ± 0.10",
        "next: b (20%)",
    ]


def test_a_runner_up_that_is_more_probable_is_explained():
    unsure, known = standing("b", 0.6, 0.3, 0.4), standing("c", 0.6, 0.05, 0.4)
    found = Recommendation(Candidate(0, "a"), 0.7, 0.1, 0.3, "", "", (unsure,))
    assert "b has the larger chance of being the very best, since less is known of it" in str(found)
    assert Recommendation(Candidate(0, "a"), 0.7, 0.1, 0.3, "", "", (known,)).remark.endswith("being the very best")
    assert not Recommendation(Candidate(0, "a"), 0.7, 0.1, 0.5, "", "", (unsure,)).remark
    assert not Recommendation(Candidate(0, "a"), 0.7, 0.1, 0.5).remark


def test_a_chance_is_one_at_most():
    study = create_study(Grid.regular(30), seed=1)
    points = [study.space.decode(i) for i in (14, 0, 4, 9, 20, 24, 29)]
    for loser in points[1:] * 6:
        study.add_comparison(points[0], loser)
    found = study.recommend()
    assert all(0 <= row.mean <= 1 for row in (found, *found.runners_up))
    assert found.candidate.id == 14
