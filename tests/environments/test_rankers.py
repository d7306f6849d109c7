"""Preference matrices of rankers against exact enumeration; answers by multileaving; subsets; yelp-like."""

from itertools import permutations

import numpy as np
import pytest

from prefopt import simulate
from prefopt.environments import FiniteEnvironment, make_environment
from prefopt.environments.clicks import CLICK_MODELS, ClickModel
from prefopt.environments.letor import Query
from prefopt.environments.ranker_environment import RankerEnvironment
from prefopt.environments.rankers import preference_matrix, rank
from prefopt.environments.subsets import condorcet_subset, condorcet_winner, subset_environment
from prefopt.environments.yelp_like import yelp_like
from prefopt.errors import EnvironmentSpecError


def exact(rankings, labels, model, length):
    """Chances of each vector of credits, by going through every order of every round and every click."""
    found = {}

    def clicks(shown, owner, position, credit, chance):
        if chance == 0:
            return
        if position == len(shown):
            found[credit] = found.get(credit, 0.0) + chance
            return
        c, s = model.click[labels[shown[position]]], model.stop[labels[shown[position]]]
        clicks(shown, owner, position + 1, credit, chance * (1 - c))
        more = tuple(x + (team == owner[position]) for team, x in enumerate(credit))
        found[more] = found.get(more, 0.0) + chance * c * s
        clicks(shown, owner, position + 1, more, chance * c * (1 - s))

    def drafts(shown, owner, chance):
        orders = list(permutations(range(len(rankings))))
        for order in orders:
            docs, teams = list(shown), list(owner)
            for team in order:
                left = [d for d in rankings[team] if d not in docs]
                if left and len(docs) < length:
                    docs.append(left[0])
                    teams.append(team)
            if len(docs) == min(length, len(labels)):
                clicks(docs, teams, 0, (0,) * len(rankings), chance / len(orders))
            else:
                drafts(docs, teams, chance / len(orders))

    drafts([], [], 1.0)
    assert sum(found.values()) == pytest.approx(1)
    return found


def exact_pair(query, i, j, model, length):
    """P(i has more credit) and P(j has more), for features without ties."""
    rankings = [np.argsort(-query.features[:, f]).tolist() for f in (i, j)]
    chances = exact(rankings, query.labels, model, length)
    return (
        sum(p for (a, b), p in chances.items() if a > b),
        sum(p for (a, b), p in chances.items() if b > a),
    )


def some_queries(n=3, rankers=3, seed=0, documents=5):
    rng = np.random.default_rng(seed)
    return [
        Query(
            str(q),
            rng.integers(0, 5, documents),
            rng.permuted(np.tile(np.arange(documents), (rankers, 1)), axis=1).T.astype(float),
        )
        for q in range(n)
    ]


def two_documents():
    """Document 0 is perfect, document 1 is bad; ranker 0 knows, ranker 1 has it the wrong way round."""
    return Query("1", np.array([4, 0]), np.array([[1.0, 0.0], [0.0, 1.0]]))


def test_by_hand():
    """Lists of two: ranker 0 always owns the clicked document. Lists of one: only when it drafts first."""
    query = two_documents()
    assert exact_pair(query, 0, 1, CLICK_MODELS["perfect"], 2) == pytest.approx((1, 0))
    assert exact_pair(query, 0, 1, CLICK_MODELS["perfect"], 1) == pytest.approx((0.5, 0))
    rng = np.random.default_rng(0)
    assert preference_matrix([query] * 50, rng)[0][0, 1] == 1
    P, error = preference_matrix([query] * 4000, rng, length=1)
    assert abs(P[0, 1] - 0.75) < 5.5 * error[0, 1]
    assert error[0, 1] == pytest.approx(0.25 / np.sqrt(4000), rel=0.01)
    P, error = preference_matrix([query] * 4000, rng, length=1, ties="drop")
    assert P[0, 1] == 1 and error[0, 1] == 0


@pytest.mark.parametrize("click", ["perfect", "navigational", "informational"])
@pytest.mark.parametrize("ties", ["half", "drop"])
@pytest.mark.parametrize("length", [3, 10])
def test_matrix_against_enumeration(click, ties, length):
    queries = some_queries()
    P, error = preference_matrix(queries, np.random.default_rng(3), click=click, draws=4000, length=length, ties=ties)
    np.testing.assert_allclose(P + P.T, 1, atol=1e-15)
    assert np.all(np.isfinite(error))
    for i in range(3):
        for j in range(i + 1, 3):
            pairs = np.array([exact_pair(q, i, j, CLICK_MODELS[click], length) for q in queries])
            wins, losses = pairs.mean(axis=0)
            expected = wins + (1 - wins - losses) / 2 if ties == "half" else wins / (wins + losses)
            decided = 1.0 if ties == "half" else wins + losses
            assert abs(P[i, j] - expected) < 5.5 * 0.5 / np.sqrt(3 * 4000 * decided)


def test_standard_error_is_the_spread_over_fresh_samples():
    """400 samples of 30 queries: the mean stated error agrees with the spread of P."""
    rng = np.random.default_rng(5)
    pool = some_queries(40, rankers=2, seed=6)
    for ties in ("half", "drop"):
        found = []
        for _ in range(400):
            sample = [pool[q] for q in rng.integers(0, len(pool), 30)]
            P, error = preference_matrix(sample, rng, draws=2, ties=ties)
            found.append((P[0, 1], error[0, 1]))
        values, errors = np.array(found).T
        assert errors.mean() == pytest.approx(values.std(ddof=1), rel=0.2)  # the spread itself is known to 3.5 %


def test_nothing_clicked():
    query = Query("1", np.zeros(4, dtype=np.int64), np.random.default_rng(0).random((4, 2)))
    P, error = preference_matrix([query] * 3, np.random.default_rng(0))
    assert P.tolist() == [[0.5, 0.5], [0.5, 0.5]] and error.tolist() == [[0, 0], [0, 0]]
    P, error = preference_matrix([query] * 3, np.random.default_rng(0), ties="drop")
    assert P.tolist() == [[0.5, 0.5], [0.5, 0.5]] and np.isnan(error[0, 1])
    assert np.isnan(preference_matrix([query], np.random.default_rng(0))[1][0, 1])


def test_equal_values_come_in_random_order():
    """A constant feature must not profit from the order of the file."""
    values = np.stack([np.zeros(3), np.arange(3.0), np.array([1.0, 1.0, 0.0])], axis=1)
    rng = np.random.default_rng(7)
    drawn = np.array([rank(values, rng, 3) for _ in range(3000)])
    assert np.all(drawn[:, 1] == [2, 1, 0]) and np.all(drawn[:, 2, 2] == 2)
    for document in range(3):
        assert abs(np.mean(drawn[:, 0, 0] == document) - 1 / 3) < 5.5 * np.sqrt(2 / 9 / 3000)
    assert abs(np.mean(drawn[:, 2, 0] == 0) - 1 / 2) < 5.5 * np.sqrt(1 / 4 / 3000)


def test_chosen_features_and_errors():
    queries = some_queries()
    whole = preference_matrix(queries, np.random.default_rng(8), draws=3000)[0]
    part = preference_matrix(queries, np.random.default_rng(9), draws=3000, features=[2, 0])[0]
    assert part.shape == (2, 2) and abs(part[0, 1] - whole[2, 0]) < 11 * 0.5 / np.sqrt(9000)
    rng = np.random.default_rng(0)
    with pytest.raises(EnvironmentSpecError, match="no feature column 3"):
        preference_matrix(queries, rng, features=[3])
    with pytest.raises(EnvironmentSpecError, match="at least one query"):
        preference_matrix([], rng)
    with pytest.raises(EnvironmentSpecError, match="'half' or 'drop'"):
        preference_matrix(queries, rng, ties="keep")
    with pytest.raises(EnvironmentSpecError, match="grades"):
        preference_matrix(queries, rng, click="perfect-binary")


def test_answers_follow_multileaving():
    """Three rankers, one of them twice: chances of each pair against enumeration."""
    query, slate = some_queries(1)[0], np.array([1, 0, 2, 1])
    person = RankerEnvironment("tiny", [query], np.full((3, 3), 0.5), click="navigational", length=4)
    rankings = [np.argsort(-query.features[:, f]).tolist() for f in slate]
    chances = exact(rankings, query.labels, CLICK_MODELS["navigational"], 4)
    rng, n = np.random.default_rng(10), 6000
    wins = sum(person.answer(slate, t, rng).wins for t in range(n)) / n
    for j in range(4):
        for k in range(4):
            expected = sum(p for credit, p in chances.items() if credit[j] > credit[k])
            assert abs(wins[j, k] - expected) <= 5.5 * 0.5 / np.sqrt(n)
    assert wins[0, 3] > 0.02 and wins[3, 0] > 0.02  # the same arm twice: chance decides


def test_equal_credit_compares_nothing():
    query = Query("1", np.zeros(3, dtype=np.int64), np.arange(6.0).reshape(3, 2))
    answer = RankerEnvironment("still", [query], np.full((2, 2), 0.5)).answer(
        np.array([0, 1]), 0, np.random.default_rng(0)
    )
    assert answer.kind == "pairs" and not answer.wins.any()


@pytest.mark.parametrize("slate_size", [2, 4])
def test_policies_learn_from_rankers(slate_size):
    """Column 0 is the relevance itself, the others are noise."""
    rng = np.random.default_rng(11)
    queries = []
    for q in range(20):
        labels = rng.integers(0, 5, 12)
        queries.append(Query(str(q), labels, np.c_[labels + 0.1 * rng.random(12), rng.random((12, 4))]))
    P, _ = preference_matrix(queries, rng, draws=20)
    person = RankerEnvironment("search", queries, P)
    assert person.best == 0
    result = simulate(
        "ind-self-sparring", person, rounds=400, repetitions=3, regret="strong-mean", slate_size=slate_size
    )
    curve = result.mean()
    assert np.all(result.inference[:, -1, 0] == 0)  # repetitions have their own labels
    assert result.manifest["relabelled"]
    assert curve[-1] - curve[len(curve) // 2] < 0.6 * curve[len(curve) // 2]


@pytest.mark.parametrize("regret", ["copeland", "borda", "binary-weak", "binary-strong", "utility-weak"])
def test_every_regret_is_there_for_rankers(regret):
    person = RankerEnvironment("tiny", some_queries(), np.array([[0.5, 0.6, 0.7], [0.4, 0.5, 0.8], [0.3, 0.2, 0.5]]))
    found = simulate("rucb", person, rounds=40, seed=1, regret=regret).mean()
    same = simulate("rucb", FiniteEnvironment("m", person.domain, person.P), rounds=40, seed=1, regret=regret).mean()
    assert found[0] == same[0]  # the first question does not depend on answers
    assert 0 < found[-1] <= 40


def test_relabelled_rankers_are_the_same():
    person = RankerEnvironment("tiny", some_queries(), np.array([[0.5, 0.6, 0.7], [0.4, 0.5, 0.8], [0.3, 0.2, 0.5]]))
    other = person.relabelled(np.array([2, 0, 1]))
    assert other.best == 1 and other.P[1, 2] == 0.6
    slate, renamed = np.array([0, 2]), np.array([1, 0])
    for seed in range(20):
        a = person.answer(slate, 0, np.random.default_rng(seed)).wins
        assert a.tolist() == other.answer(renamed, 0, np.random.default_rng(seed)).wins.tolist()


def test_impossible_ranker_environments():
    queries = some_queries()
    with pytest.raises(EnvironmentSpecError, match="3 rankers, but the preference matrix has 2 rows"):
        RankerEnvironment("x", queries, np.full((2, 2), 0.5))
    with pytest.raises(EnvironmentSpecError, match="at least one query"):
        RankerEnvironment("x", [], np.full((3, 3), 0.5))
    with pytest.raises(EnvironmentSpecError, match="grades"):
        RankerEnvironment("x", queries, np.full((3, 3), 0.5), click=ClickModel(np.ones(2), np.ones(2)))


def test_subsets_have_a_condorcet_winner():
    P = make_environment("random-cyclic-12-0").P
    assert condorcet_winner(P) is None
    rng = np.random.default_rng(12)
    for _ in range(50):
        chosen = condorcet_subset(P, 6, rng)
        part = P[np.ix_(chosen, chosen)]
        assert len(set(chosen.tolist())) == 6
        assert max((row > 0.5).sum() for row in part) == 5


def test_subsets_are_uniform_among_those_with_a_winner():
    """A cycle of three above one loser: of the four triples, only the cycle itself is never drawn."""
    P = np.full((4, 4), 0.5)
    for i, j in [(0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)]:
        P[i, j], P[j, i] = 0.9, 0.1
    rng = np.random.default_rng(13)
    drawn = [tuple(sorted(condorcet_subset(P, 3, rng).tolist())) for _ in range(3000)]
    assert set(drawn) == {(0, 1, 3), (0, 2, 3), (1, 2, 3)}
    for triple in set(drawn):
        assert abs(drawn.count(triple) / 3000 - 1 / 3) < 5.5 * np.sqrt(2 / 9 / 3000)
    with pytest.raises(EnvironmentSpecError, match="none of 20 random subsets of 4"):
        condorcet_subset(P, 4, rng, attempts=20)
    with pytest.raises(EnvironmentSpecError, match="a subset of 5 arms; the matrix has 4"):
        condorcet_subset(P, 5, rng)


def test_subset_environment_keeps_the_person():
    whole = make_environment("arith-logit-8")
    part = subset_environment(whole, np.array([5, 2, 7]))
    assert part.domain.size == 3 and part.best == 1
    assert part.P[0, 1] == whole.P[5, 2] and part.utility.tolist() == whole.utility[[5, 2, 7]].tolist()


def test_yelp_like():
    person = yelp_like(np.random.default_rng(14))
    items = 2 * person.domain.points - 1
    assert person.name == "yelp-like" and items.shape == (20, 7)
    np.testing.assert_allclose(np.linalg.norm(items, axis=1), 1)
    theta = np.linalg.lstsq(items, person.utility, rcond=None)[0]  # utilities are linear in the features
    np.testing.assert_allclose(items @ theta, person.utility, atol=1e-12)
    assert np.linalg.norm(theta) == pytest.approx(1)
    assert person.P[0, 1] == pytest.approx(1 / (1 + np.exp(person.utility[1] - person.utility[0])))


def test_yelp_like_by_name():
    person = make_environment("yelp-like-9-3", link="probit")
    assert person.name == "yelp-like-9-3" and person.domain.points.shape == (9, 7)
    again = yelp_like(np.random.default_rng(0), features=2 * person.domain.points - 1)
    np.testing.assert_allclose(again.domain.points, person.domain.points)


def test_yelp_like_takes_features(tmp_path):
    path = tmp_path / "items.csv"
    path.write_text("3,4\n0,2\n-1,0\n")
    person = yelp_like(np.random.default_rng(0), features=path)
    np.testing.assert_allclose(person.domain.points, [[0.8, 0.9], [0.5, 1.0], [0.0, 0.5]])
    with pytest.raises(EnvironmentSpecError, match="item 1 has only zero features"):
        yelp_like(np.random.default_rng(0), features=[[1, 0], [0, 0]])
    with pytest.raises(EnvironmentSpecError, match="cannot read the features"):
        yelp_like(np.random.default_rng(0), features=tmp_path / "none.csv")
