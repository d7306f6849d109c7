"""What a study recommends, and how sure it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefopt.answer import Answer
from prefopt.data import Tally
from prefopt.errors import StudyError
from prefopt.models.beliefs import chances
from prefopt.models.grid_posterior import Prior
from prefopt.seeding import stream
from prefopt.study.asking import Asker
from prefopt.study.fold import State
from prefopt.study.learner import RECOMMEND
from prefopt.study.question import Candidate

FloatArray = NDArray[np.float64]

#: Draws behind a probability of being the best where every option stands on its own.
DRAWS = 600
#: What mean and sd of a recommendation measure.
CORRELATED = "chance to win a comparison against what has been shown so far (Gaussian process)"
UTILITY = "chance to win a comparison against what has been shown so far (utility model)"
INDEPENDENT = "share of comparisons won (every option on its own)"
#: So sure is enough.
SURE = 0.95
#: The options shown so far are a candidate set worth being sure of after so many answers.
ENOUGH_SHOWN = 10
#: A question may be asked that often before "enough" is said, if there is no other.
PLANNED_REPEATS = 5


@dataclass(frozen=True)
class Standing:
    """How good one candidate seems.

    Attributes:
        candidate: which.
        mean: posterior mean of its chance to win against the others (``Recommendation.scale`` says of what exactly).
        sd: posterior standard deviation of that.
        probability_best: posterior probability that its chance to win is the largest of the candidate set. A strategy
            with a utility model says what that model believes, which comes true on average over utilities such as it
            expects; where many options are nearly alike, the very best is found less often (of the Camel's 64 options,
            eight alike: stated 0.24, found 0.07, one hardly worse than the best 0.44). Otherwise every comparison is
            taken to be as noisy as a coin at even chances: whatever noise the policy asks with does not enter, and
            with few answers on many options the number is on the cautious side.
    """

    candidate: Candidate
    mean: float
    sd: float
    probability_best: float

    @property
    def params(self) -> Any:
        """The option's parameters, or its item of a list of arms."""
        return self.candidate.params


@dataclass(frozen=True)
class Recommendation(Standing):
    """The option to take now.

    Attributes:
        candidate_set: among which options ``probability_best`` is meant.
        scale: what ``mean`` and ``sd`` measure.
        runners_up: the next most probable ones, best first.
    """

    candidate_set: str = ""
    scale: str = ""
    runners_up: tuple[Standing, ...] = ()

    def __str__(self) -> str:
        lines = [
            f"{_text(self.params)}: {self.probability_best:.0%} sure that it is the best of {self.candidate_set}",
            f"{self.scale}: {self.mean:.2f} ± {self.sd:.2f}",
            *(f"next: {_text(other.params)} ({other.probability_best:.0%})" for other in self.runners_up),
        ]
        return "\n".join([*lines, self.remark] if self.remark else lines)

    @property
    def remark(self) -> str:
        """What needs to be said if a runner-up is the more probable best; "" otherwise.

        The strategy's own choice is recommended all the same: against the option of largest ``mean`` it loses half as
        much on 30 points of Forrester's function, and on 64 of the Camel's more after 20 answers, the same after 60.
        """
        rival = max(self.runners_up, key=lambda other: other.probability_best, default=self)
        if rival.probability_best <= self.probability_best:
            return ""
        why = ", since less is known of it" if rival.sd > self.sd else ""
        return (
            f"recommended is what the strategy expects to win most often; {_text(rival.params)} has the larger chance "
            f"of being the very best{why}"
        )


def _text(params: Any) -> str:
    if isinstance(params, Mapping):
        return ", ".join(
            f"{name} = {value:.6g}" if isinstance(value, float) else f"{name} = {value}"
            for name, value in params.items()
        )
    return str(params)


@dataclass(frozen=True)
class Beliefs:
    """Joint beliefs about a candidate set; ``options`` as in events."""

    options: list[Any]
    mean: FloatArray
    sd: FloatArray
    best: FloatArray  # probability of being the best
    tried: NDArray[np.bool_]  # whether anybody compared it
    possible: NDArray[np.bool_]  # whether it can be made, as far as is known
    candidate_set: str
    scale: str


def recommend(state: State, asker: Asker, runners_up: int = 3) -> Recommendation:
    """The policy's recommendation with the beliefs about it; the likeliest winner if the policy's cannot be made.

    Raises:
        StudyError: all options are infeasible.
    """
    policy = asker.policy(state)
    choice = state.options.plain(policy.best())
    if asker.believed is None or asker.believed[0] != state.last:
        asker.believed = state.last, _beliefs(state, policy, choice)
    beliefs = asker.believed[1]
    chosen = next(i for i, option in enumerate(beliefs.options) if state.options.same(option, choice))
    if not beliefs.possible[chosen]:
        chosen = int(np.lexsort((-beliefs.mean, ~beliefs.tried, ~beliefs.possible))[0])
    order = [i for i in np.lexsort((-beliefs.mean, -beliefs.best)) if i != chosen and beliefs.possible[i]]
    others = tuple(Standing(*_standing(state, beliefs, int(i))) for i in order[:runners_up])
    standing = _standing(state, beliefs, chosen)
    return Recommendation(*standing, beliefs.candidate_set, beliefs.scale, others)


def _standing(state: State, beliefs: Beliefs, i: int) -> tuple[Candidate, float, float, float]:
    option = beliefs.options[i]
    candidate = Candidate(state.options.find(option), state.options.decode(option))
    chance = float(np.clip(beliefs.mean[i], 0.0, 1.0))  # a Gaussian process knows no bounds
    return candidate, chance, float(beliefs.sd[i]), float(beliefs.best[i])


def _beliefs(state: State, policy: Any, choice: Any) -> Beliefs:
    rng = stream(state.record.seed, state.last, RECOMMEND)
    options = [state.options.option(i) for i in range(len(state.options))]
    said = f"all {len(options)} options" if state.options.finite else f"the {len(options)} options shown so far"
    if not state.options.finite and state.options.find(choice) is None:
        options, said = [*options, choice], said + " and the recommended one"
    out = state.infeasible()
    possible = np.array([i not in out for i in range(len(options))])
    if not possible.any():
        raise StudyError(f"study {state.record.name!r}: all options were said to be infeasible; undo() takes that back")
    if not possible.all():
        said += f" but {np.sum(~possible)} infeasible"
    scale, beliefs = believed(state, policy, options, possible, rng)
    tries = counts_of(state, options)[0]
    return Beliefs(options, *beliefs, tries > 0, possible, said, scale)


def beliefs_about(state: State, asker: Asker, options: list[Any]) -> tuple[FloatArray, FloatArray]:
    """Posterior mean and sd (n,) of the chance to win of ``options``, as in events, shown before or not."""
    policy = asker.policy(state)
    if state.options.finite:
        recommend(state, asker, runners_up=0)
        beliefs = asker.believed[1] if asker.believed is not None else _beliefs(state, policy, options[0])
        return np.clip(beliefs.mean[options], 0.0, 1.0), beliefs.sd[options]
    seen = [state.options.option(i) for i in range(len(state.options))]
    places = [*seen, *options]
    rng = stream(state.record.seed, state.last, RECOMMEND)
    mean, sd, _ = believed(state, policy, places, np.ones(len(places), dtype=bool), rng)[1]
    return np.clip(mean[len(seen) :], 0.0, 1.0), sd[len(seen) :]


def believed(
    state: State, policy: Any, options: list[Any], among: NDArray[np.bool_], rng: np.random.Generator
) -> tuple[str, tuple[FloatArray, FloatArray, FloatArray]]:
    """What mean and sd measure; mean, sd and probability of being the best ``among`` them of ``options``, (n,) each.

    A strategy with a utility model says it itself; of the others only the correlations count.
    """
    if hasattr(policy, "standings"):
        return UTILITY, policy.standings(np.array(options), rng, among)
    prior, (tries, wins) = prior_at(state, policy, options), counts_of(state, options)
    if prior is None:
        return INDEPENDENT, alone(tries, wins, rng, among=among)
    return CORRELATED, chances(prior, tries, wins, rng, among=among)


def prior_at(state: State, policy: Any, options: list[Any]) -> Prior | None:
    """The correlations that ``policy`` believes in, at ``options`` of a box or all of a finite space; None for none."""
    if state.options.finite:
        return getattr(policy, "prior", None)
    return policy.prior_at(options) if hasattr(policy, "prior_at") else None


def counts_of(state: State, options: list[Any]) -> tuple[FloatArray, FloatArray]:
    """Tries and wins (n,) of ``options``, those of the study and perhaps one more, from what people said."""
    tally, more = Tally.empty(len(state.options)), len(options) - len(state.options)
    for lesson in state.lessons():
        tally.add(np.array(lesson.slate), duels_worth(lesson.answer) * lesson.answer.wins)
    return np.append(tally.tries, np.zeros(more)), np.append(tally.wins, np.zeros(more))


def duels_worth(answer: Answer) -> float:
    """How many independent duels a pair of ``answer`` counts for: one if it was asked pair by pair.

    The best of m options is one thing said and not m - 1, so its pairs count 2/m; those of a ranking 3/(m + 1). Then
    (wins - losses)^2 over the options is what it is on average for so many tosses of a fair coin.

    >>> duels_worth(Answer.duel(0)), duels_worth(Answer.best(1, 4)), duels_worth(Answer.ranking([2, 0, 1, 3], 4))
    (1.0, 0.5, 0.6)
    """
    if answer.kind in ("pairs", "skip"):
        return 1.0
    ahead = answer.wins.sum(axis=1) - answer.wins.sum(axis=0)
    said = float(ahead @ ahead)
    return 2 * float(answer.wins.sum()) / said if said else 2 / answer.size  # a tie as one choice


def alone(
    tries: FloatArray, wins: FloatArray, rng: np.random.Generator, *, among: NDArray[np.bool_]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The same as ``chances`` of options that stand on their own, each Beta(1 + wins, 1 + losses)."""
    a, b = 1 + wins, 1 + tries - wins
    mean, best = a / (a + b), np.zeros(len(a))
    best[among] = largest_of_betas(a[among], b[among], rng)
    return mean, np.sqrt(mean * (1 - mean) / (a + b + 1)), best


def largest_of_betas(a: FloatArray, b: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Probability (n,) that each of n independent Beta(``a``, ``b``) is the largest, from ``DRAWS`` draws.

    Options nobody compared are uniform and alike, so that one draw of the largest of them stands for all.
    """
    seen, rest = np.flatnonzero(a + b > 2), np.flatnonzero(a + b == 2)
    draws = np.full((DRAWS, len(seen) + 1), -np.inf)
    draws[:, :-1] = rng.beta(a[seen], b[seen], size=(DRAWS, len(seen)))
    if len(rest):
        draws[:, -1] = rng.random(DRAWS) ** (1 / len(rest))
    share = np.bincount(np.argmax(draws, axis=1), minlength=len(seen) + 1) / DRAWS
    best = np.empty(len(a))
    best[seen], best[rest] = share[:-1], share[-1] / max(1, len(rest))
    return best


def enough(state: State, asker: Asker) -> str:
    """Why it is reasonable to stop, or "" while more answers are worth it."""
    options, budget = state.options, state.record.budget
    left = len(options) - len(state.infeasible())
    if options.finite and left < 2:
        return "there is only one option" if len(options) == 1 else f"of {len(options)} options {left} can be made"
    if budget is not None and state.answered >= budget:
        return "the planned answer is there" if budget == 1 else f"all {budget} planned answers are there"
    if options.finite and left <= state.record.query_size:
        asked = sum(a.status in ("answered", "skipped") for a in state.questions.values())
        if asked >= PLANNED_REPEATS:
            return f"the only possible question has been asked {asked} times"
    if state.answered >= (1 if options.finite else ENOUGH_SHOWN):
        found = recommend(state, asker, runners_up=0)
        if found.probability_best >= SURE:
            return f"{found.probability_best:.0%} sure of the best among {found.candidate_set}"
    return ""
