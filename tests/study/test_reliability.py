"""Reliability of raters: what is found in simulated ones, against exact numbers and slow reference code."""

import itertools

import numpy as np
import pytest
from scipy.stats import binom

from prefopt import Arms, Box, create_study
from prefopt.study.agreement import agree, two_sided
from prefopt.study.position import boundary, examine, step
from prefopt.study.triads import count_triads


def flagged(p, answers):
    """Exact probability that a rater who chooses the left of two with probability p is flagged, after each answer."""
    null, real, spent, found, out = np.ones(1), np.ones(1), 0.0, 0.0, []
    for count in range(1, answers + 1):
        null, real = step(null, 2, 60), np.convolve(real, [1 - p, 0, p])
        if count % 20 == 0:
            limit, spent = boundary(null, spent, count // 20)
            over = np.abs(np.arange(-count, count + 1)) >= limit
            found += real[over].sum()
            null[over] = real[over] = 0
        out.append(found)
    return out


def test_the_exact_error_and_power_of_the_test_for_position_bias():
    honest = flagged(0.5, 400)
    assert honest[99] < 0.025 and honest[-1] < 0.025
    assert honest[18] == 0 and honest[19] == pytest.approx(2 * binom.sf(15, 20, 0.5))
    assert flagged(0.9, 20)[-1] == pytest.approx(binom.sf(15, 20, 0.9))  # 0.957
    assert flagged(0.9, 20)[-1] > 0.95
    assert flagged(0.7, 100)[-1] > 0.9


def test_the_looks_are_at_every_twentieth_answer():
    left, right = (0, 2), (1, 2)
    assert examine([left] * 19).biased is None
    assert examine([left] * 20).biased == 20
    assert examine([right] * 20).last == 20
    assert examine([left] * 15 + [right] * 5).biased is None
    found = examine([left] * 16 + [right] * 4 + [left, right] * 40)
    assert (found.biased, found.first, found.answers) == (20, 16, 20)  # as it was at the look
    assert found.p == pytest.approx(2 * binom.sf(15, 20, 0.5))
    assert examine([]).p == 1.0


def test_places_of_questions_of_several_sizes():
    rng = np.random.default_rng(1)
    chosen = [(0, 4), (2, 3), (1, 2), (5, 6), (0, 6)]
    sizes = np.array([size for _, size in chosen])
    drawn = 60 - rng.integers(sizes, size=(200_000, 5)) * (120 // (sizes - 1))
    seen = abs(sum(60 - place * (120 // (size - 1)) for place, size in chosen))
    # standard error of 200,000 draws below 0.0012; six of them
    assert examine(chosen).p == pytest.approx(np.mean(np.abs(drawn.sum(axis=1)) >= seen), abs=0.007)
    assert examine([(0, 4)] * 10 + [(3, 4)] * 10).biased is None
    assert examine([(0, 4)] * 20).biased == 20


def circles(won, n):
    """Circular and compared triads, one by one."""
    over = {(a, b) for a, b in won if won[a, b] > won.get((b, a), 0)}
    found = compared = 0
    for triple in itertools.combinations(range(n), 3):
        pairs = [(a, b) for a, b in itertools.permutations(triple, 2) if (a, b) in over]
        compared += len(pairs) == 3
        found += len(pairs) == 3 and len({a for a, _ in pairs}) == 3
    return found, compared


@pytest.mark.parametrize("share", [0.5, 1.0])
@pytest.mark.parametrize("seed", range(5))
def test_triads_against_counting_them(share, seed):
    rng = np.random.default_rng(seed)
    n = 9
    won = {(a, b) if rng.random() < 0.6 else (b, a): 1 for a, b in itertools.combinations(range(n), 2)}
    won = {pair: times for pair, times in won.items() if rng.random() < share}
    found = count_triads(won)
    assert (found.circular, found.compared) == circles(won, n)
    if share == 1:
        assert found.consistency == pytest.approx(1 - 24 * found.circular / (n**3 - n))  # Kendall, n odd


def test_kendall_s_coefficient_at_its_ends():
    assert count_triads({}).consistency is None
    assert count_triads(dict.fromkeys(itertools.combinations(range(6), 2), 1)).consistency == 1
    # a regular tournament of five: each beats the next two
    regular = {(a, (a + d) % 5): 1 for a in range(5) for d in (1, 2)}
    assert count_triads(regular).consistency == 0


def test_agreement_is_zero_by_chance_and_counts_common_questions_only():
    rng = np.random.default_rng(3)
    coins = {rater: {(q, 2): int(rng.integers(2)) for q in range(2000)} for rater in "abc"}
    found = agree(coins)
    assert abs(found.coefficient) < 6 / np.sqrt(3 * 2000)
    assert found.questions == 2000 and len(found.pairs) == 3
    lonely = {"a": {("q", 2): 0}, "b": {("r", 2): 0}}
    assert agree(lonely) is None
    opposite = agree({"a": {(q, 2): 0 for q in range(10)}, "b": {(q, 2): 1 for q in range(8)}})
    assert (opposite.coefficient, opposite.questions) == (-1, 8)
    assert opposite.pairs[0].p == pytest.approx(2 / 2**8)
    four = agree({"a": {(q, 4): 0 for q in range(8)}, "b": {(q, 4): q % 4 for q in range(8)}})
    assert four.coefficient == 0  # two of eight by chance
    assert two_sided(14, [0.5] * 16) == pytest.approx(2 * binom.sf(13, 16, 0.5))


def simulated(seed, answers, *, ignores=0.0, error=0.0, size=30, rater="ann", **keywords):
    """A study of a rater with a true order; with probability ``ignores`` the left option is taken unseen."""
    study = create_study(Arms(size), seed=seed, strategy="random", **keywords)
    rng = np.random.default_rng([seed, 77])
    worth = rng.permutation(size)
    for _ in range(answers):
        query = study.ask(rater)
        left, right = query.shown_order
        better = left if (worth[left] > worth[right]) != (rng.random() < error) else right
        study.tell(query, best=left if rng.random() < ignores else better, rater=rater)
    return study


def share_flagged(studies, answers, **keywords):
    found = [simulated(seed, answers, **keywords).diagnostics() for seed in range(studies)]
    said = ["position bias" in " ".join(one.lines()) for one in found]
    assert said == [one.raters[0].places.biased is not None for one in found]
    return np.mean(said)


def test_raters_who_take_the_left_are_flagged_and_honest_ones_are_not():
    assert share_flagged(8, 20, ignores=0.8) >= 5 / 8  # chance of fewer: 2e-4 (7.7 expected)
    assert share_flagged(4, 40, error=0.15) <= 2 / 4  # chance of more: 2e-5


@pytest.mark.slow
def test_two_hundred_studies_of_each_kind():
    """What must hold: by question 20 at least 95 % of the biased, over 100 questions less than 5 % of the honest."""
    assert share_flagged(200, 20, ignores=0.8) >= 0.95
    assert share_flagged(200, 100, error=0.15) < 0.05


def test_the_remark_is_in_plain_words():
    lines = simulated(1, 120, ignores=1.0).diagnostics().lines()
    assert "ann chose the first (left) option in 20 of 20 answers: position bias, p = 0.0001 or less" in lines
    assert any(line.startswith("ann chose it in 9 of 9 repeats with the sides swapped, p = 0.0039") for line in lines)
    assert any("repeated questions the same way" in line for line in lines)
    assert any("circle" in line for line in lines)


def test_slips_show_in_the_repeats():
    careful, hasty = (simulated(4, 120, error=e, repeats=0.25).diagnostics().raters[0] for e in (0.0, 0.3))
    assert careful.alike == careful.repeats == 30 and careful.error == 0
    assert hasty.repeats == 30 and hasty.alike < 25
    assert 0.1 < hasty.error <= 0.5


def test_drift_and_seconds():
    study = create_study(Arms(8), seed=3, strategy="random", repeats=0)
    rng = np.random.default_rng(1)
    for k in range(120):
        query = study.ask("ann")
        best = min(query.ids) if k < 60 else query.ids[int(rng.integers(2))]
        study.tell(query, best=best, seconds=8.0 + k % 5 if k < 60 else 2.0 + k % 3)
    found = study.diagnostics().raters[0]
    assert found.halves.alike[0] / found.halves.judged[0] > 0.9
    assert found.halves.p < 1e-3
    said = " ".join(study.diagnostics().lines())
    assert (
        "in the second: drift, p = " in said
        and "ann took 10.0 s for an answer in the first half and 3.0 s later" in said
    )


def test_raters_who_want_opposite_things():
    study = create_study(Box(1), seed=2, strategy="random", overlap=0.5, repeats=0)
    for k in range(60):
        rater = "ab"[k % 2]
        query = study.ask(rater)
        ordered = sorted(query.candidates, key=lambda c: c.params["x0"])
        study.tell(query, best=ordered[0 if rater == "a" else 1], seconds=1.0)
    found = study.diagnostics()
    assert found.agreement.coefficient == -1
    assert "a and b chose the same option in 0 of" in " ".join(found.lines())
    assert [line.split(":")[0] for line in found.summary()[:2]] == ["a", "b"]
    study.remove_rater("b", "a test")
    assert study.diagnostics().agreement is None and "removed" in study.diagnostics().summary()[1]


def test_diagnostics_of_ties_skips_and_several_options():
    study = create_study(Arms(9), seed=3, strategy="random", query_size=4, repeats=0.25)
    for k in range(40):
        query = study.ask("ann")
        told = [
            {"tie": True},
            {"skip": "?"},
            {"worst": query.ids[0]},
            {"ranking": query.ids[:3]},
            {"best": query.ids[1]},
        ]
        study.tell(query, **told[k % 5], seconds=None if k % 2 else 3.0)
    found = study.diagnostics().raters[0]
    assert (found.answers, found.ties, found.skips, found.seconds) == (32, 8, 8, 3.0)
    assert found.places.answers == 24
    assert "8 ties, 8 skipped, 3.0 s each" in found.summary()
