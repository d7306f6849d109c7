"""The base of policies on a utility model: what was said, the model's beliefs, the first questions, the best option."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prefopt.answer import Answer
from prefopt.domain import Box, FloatArray, Grid
from prefopt.errors import AnswerError, SettingError
from prefopt.kinds import is_whole
from prefopt.models.box_search import peaks, raw_points
from prefopt.models.utility.average import LAPSES, LEAST, Averaged, Beliefs
from prefopt.models.utility.comparisons import Comparisons, Said, stages
from prefopt.models.utility.hyper import Hyper
from prefopt.models.utility.laplace import laplace
from prefopt.models.utility.likelihood import Likelihood
from prefopt.models.utility.posterior import Utility
from prefopt.models.utility.prior import Trend
from prefopt.models.utility.raters import (
    SHARED,
    deviating,
    distinguishable,
    rater_noise,
    ratio_of,
    with_noise,
)
from prefopt.models.utility.standing import Standings, standings
from prefopt.policies.checks import check_settings
from prefopt.policies.kernel.first_questions import first_slates, likely_of
from prefopt.policies.kernel.open_questions import unlike_open
from prefopt.seeding import stream

#: Hyper-parameters are learned anew after every answer up to so many, then ever less often.
ALWAYS = 10
#: They are learned from at most so many answers, the same ones every time.
ENOUGH = 300
#: Chances are stated by expectation propagation for up to so many differences, which takes less than half a second.
STATED = 400
#: The search for the mode ends at a gain of less than this share, and keeps a factor that is nearly right.
NEARLY = partial(laplace, tolerance=1e-8, chord=0.05)
#: Half the width of the narrowest region in which the best option can be expected.
NARROWEST = 0.02
#: Search for the largest mean on a box: random points, climbs begun and climbs ended, for an ask and for ``best``.
SAMPLED, QUICK, THOROUGH = 128, (6, 1), (12, 4)
#: The noise of every rater and how much of their utilities is their own.
Apart = tuple[tuple[float, ...], float]


class Held(NamedTuple):
    """A prior with its most probable hyper-parameters.

    Attributes:
        hyper: the prior.
        theta: the hyper-parameters, (d + 2,).
        odds: log of how probable they were before any answer, up to a constant.
        utility: what is believed with them.
    """

    hyper: Hyper
    theta: FloatArray
    odds: float
    utility: Utility


@dataclass(kw_only=True)
class UtilityPolicy:
    """Holds the answers. A subclass is a dataclass of its hyper-parameters that defines ``choose`` or ``choose_by``.

    Args:
        domain: a grid or a box; categories of a box enter the kernel by equality only.
        slate_size: m, at least 2.
        horizon: not used.
        kernel: "rbf", "matern32" or "matern52".
        lengthscale: prior median of the length-scales divided by sqrt(d), in units of the cube.
        outputscale: prior median of the signal variance, in squared units of the answers' noise.
        pull: how much less a corner is worth than the centre, in logits, before any answer; see ``Trend``.
        bend: prior standard deviation of ``pull``.
        tilt: prior standard deviation of a linear drift.
        learn: whether hyper-parameters are learned from the answers; otherwise they are the medians.
        link: "logit" or "probit", which is for pairs.
        lapse: share of answers taken for guesses; 0 chooses questions without, and averages stated chances over rates.
        jnd: just-noticeable difference in units of the noise; 0 takes a tie for half a win of each side.
        flat: probability, before any answer, that the centre is no better than any other place. Of the two priors the
            more probable one is used, judged anew whenever hyper-parameters are learned; if ``averages``, both count.
        opening: number of first questions that do not use the model; None is 2, and 4 in one dimension, where two
            leave whole hills unseen.
        reuse: whether one option of every question, from the second on, is one that was shown before.
        raters: "noise" gives each rater a noise of their own, learned from the answers once two raters have given a few
            (``ENOUGH_EACH``): a careless one counts less. "individual" gives each a deviation of their own from the
            shared utility, which questions and recommendations are about; how large is learned likewise. "alike":
            neither.

    State: ``points`` (q, d), the distinct options compared, and ``said``, the answers about them.
    """

    domain: Grid | Box = field(kw_only=False)
    slate_size: int = 2
    horizon: int | None = None
    kernel: str = "matern52"
    lengthscale: float = 0.35
    outputscale: float = 10.0
    pull: float = 4.0
    bend: float = 2.0
    tilt: float = 1.0
    flat: float = 0.5
    learn: bool = True
    link: str = "logit"
    lapse: float = 0.0
    jnd: float = 0.0
    opening: int | None = None
    reuse: bool = False
    raters: str = "noise"

    #: What is computed once from the answers and remembered between questions.
    memo: ClassVar[tuple[str, ...]] = ("fits", "ears")
    #: Algorithms that compare exactly two options say so here.
    pairs_only: ClassVar[bool] = False
    #: Whether questions and recommendations regard both priors, each as far as it is probable; else the likelier one.
    averages: ClassVar[bool] = False
    #: ``tell`` takes the number of the rater who answered.
    hears_raters: ClassVar[bool] = True

    points: FloatArray = field(init=False, repr=False, compare=False)
    said: tuple[Said, ...] | None = field(default=None, init=False, repr=False, compare=False)
    first: FloatArray = field(init=False, repr=False, compare=False)  # (opening, m, d)
    fits: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    ears: dict[int, Apart] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Grid | Box):
            raise SettingError(f"{type(self).__name__} needs a Grid or a Box, got {self.domain!r}")
        check_settings(self)
        if self.pairs_only and self.slate_size != 2:
            raise SettingError(
                f"{type(self).__name__} compares two options at a time, got slate_size={self.slate_size}"
            )
        self._check_ranges()
        self.box = Box(self.domain.dim) if isinstance(self.domain, Grid) else self.domain
        self.likelihood = Likelihood(self.link, self.lapse, self.jnd)
        self.hyper = Hyper(
            self.box, self.kernel, self.lengthscale, outputscale=self.outputscale, trend=self._trend(self.domain)
        )
        self.hyper.prior(self.hyper.median)
        doubt = self.flat > 0 and self.hyper.trend is not None
        self.hypers = (self.hyper, replace(self.hyper, trend=None)) if doubt else (self.hyper,)
        self.check()

    def _check_ranges(self) -> None:
        """Raise ``SettingError`` if a hyper-parameter that all of these policies have is out of range."""
        if not (self.lengthscale > 0 and self.outputscale > 0):
            raise SettingError(f"expected lengthscale, outputscale > 0, got {self.lengthscale}, {self.outputscale}")
        if min(self.bend, self.tilt, self.opening or 0) < 0:
            raise SettingError(f"expected bend, tilt, opening >= 0, got {self.bend}, {self.tilt}, {self.opening}")
        if not 0 <= self.flat < 1:
            raise SettingError(f"flat is a probability below 1, got {self.flat}")
        if self.raters not in ("noise", "individual", "alike"):
            raise SettingError(f"expected raters 'noise', 'individual' or 'alike', got {self.raters!r}")
        if self.link == "probit" and self.slate_size > 2:
            raise SettingError(
                f"link='probit' is for pairs, got slate_size={self.slate_size}: take link='logit', or slate_size=2"
            )

    def _trend(self, domain: Grid | Box) -> Trend | None:
        ends = likely_of(domain)
        numeric = tuple(j for j, end in enumerate(ends) if end is not None)
        low, high = (np.array([end[k] for end in ends if end is not None]) for k in (0, 1))
        width = np.maximum((high - low) / 2, NARROWEST)
        place = tuple(((low + high) / 2).tolist()), tuple(width.tolist())
        return Trend(numeric, *place, self.pull, self.bend, self.tilt) if numeric else None

    def check(self) -> None:
        """Raise ``SettingError`` if a hyper-parameter is out of range."""

    @property
    def settings(self) -> dict[str, Any]:
        """The hyper-parameters by name, JSON-able."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.init and f.name != "domain"}

    def init(self, rng: np.random.Generator) -> None:
        """Forget everything; ``rng`` draws the first questions."""
        self.points, self.said, self.fits, self.ears = np.zeros((0, self.domain.dim)), (), {}, {}
        opening = (4 if self.domain.dim == 1 else 2) if self.opening is None else self.opening
        self.first = first_slates(self.domain, opening, self.slate_size, rng, likely_of(self.domain))

    @property
    def answers(self) -> tuple[Said, ...]:
        """What was said so far. Raises SettingError before ``init``."""
        if self.said is None:
            raise SettingError("used before init: call policy.init(rng) first")
        return self.said

    def ask(self, rng: np.random.Generator, pending: Sequence[Any] = ()) -> Any:
        """The next slate, int64 (m,) on a grid and float64 (m, d) on a box; changes nothing.

        An open question (``pending``) is taken to be answered as the model expects, and is not asked twice.
        """
        number = len(self.answers) + len(pending)
        if number < len(self.first) and not (self.reuse and len(self.shown)):
            return self.as_slate(self.first[number])
        beliefs = self.believing(pending)
        waiting = [self.as_rows(slate, len(slate)) for slate in pending]
        rows = self.choose_by(beliefs, rng)
        return self.as_slate(unlike_open(self.domain, beliefs.likeliest, rows, waiting, rng))

    def choose_by(self, beliefs: Averaged, rng: np.random.Generator) -> FloatArray:
        """The next slate as rows (m, d), given all hypotheses."""
        return self.choose(beliefs.likeliest, rng)

    def choose(self, utility: Utility, rng: np.random.Generator) -> FloatArray:
        """The next slate as rows (m, d), given the most probable hypothesis."""
        raise NotImplementedError

    def tell(self, slate: ArrayLike, answer: Answer, rng: np.random.Generator, rater: int = 0) -> None:
        """Learn from the ``answer`` of ``rater`` (0, 1, ...) to ``slate``; a skip teaches nothing.

        Raises:
            AnswerError: the answer is about another number of options, an option is not in the domain, the probit
                link is told of a choice or a ranking, or ``rater`` is no such number.
        """
        rows = self.as_rows(slate, answer.size)
        if not (is_whole(rater) and rater >= 0):
            raise AnswerError(f"rater is the number of who answered, 0, 1, ...; got {rater!r}")
        if answer.kind == "skip":
            return
        if self.link == "probit" and any(len(s.ahead) > 1 for s in stages(range(answer.size), answer)):
            raise AnswerError(
                f"link='probit' learns from pairs and ties, got a {answer.kind!r} of {answer.size} options: tell "
                "pairs, or take link='logit', which learns from choices and rankings too"
            )
        self.points, options = merged(self.points, rows)
        self.said = (*self.answers, Said(options, answer, rater=rater))

    def best(self) -> Any:
        """The option of largest posterior mean in the whole domain: an index of a grid, a row (d,) of a box."""
        row = self.champion(self.beliefs())
        return int(self.as_slate(row[None])[0]) if isinstance(self.domain, Grid) else row

    def as_rows(self, slate: ArrayLike, size: int) -> FloatArray:
        """``slate`` as rows (m, d) on the levels; raises AnswerError as ``tell`` does."""
        if isinstance(self.domain, Grid):
            index = np.asarray(slate, dtype=np.int64)
            if index.shape != (size,):
                raise AnswerError(f"the slate has shape {index.shape}, the answer is about {size} options")
            if size and not (index.min() >= 0 and index.max() < self.domain.size):
                raise AnswerError(f"slate {index.tolist()} names an option outside 0 .. {self.domain.size - 1}")
            return np.asarray(self.domain.points[index])
        rows = np.asarray(slate, dtype=np.float64)
        if rows.shape != (size, self.domain.dim):
            raise AnswerError(
                f"an answer about {size} options needs a slate of shape ({size}, {self.domain.dim}), got {rows.shape}"
            )
        if not np.all(np.abs(rows - 0.5) <= 0.5 + 1e-9):
            raise AnswerError(f"every coordinate of a slate lies in [0, 1], got {rows.tolist()}")
        return self.domain.project(rows)

    def as_slate(self, rows: FloatArray) -> Any:
        """Rows (m, d) as the domain names options: the nearest points of a grid, int64 (m,); the rows of a box."""
        if not isinstance(self.domain, Grid):
            return np.array(rows)
        away = ((rows[:, None, :] - self.domain.points) ** 2).sum(axis=2)
        return np.argmin(away, axis=1)

    def beliefs(self) -> Averaged:
        """What is believed after all answers; a function of them alone, remembered."""
        n = len(self.answers)
        if n not in self.fits:
            known = scheduled(n)
            if known not in self.fits:
                self.fits = {known: self.learned(known)}
            before = self.fits[known]
            if n > known:
                now = [
                    one._replace(utility=self.condition(one.hyper, one.theta, self.answers, one.utility))
                    for one in before
                ]
                self.fits = {known: before, n: tuple(now)}
        held = self.fits[n]
        odds = np.array([one.odds for one in held])
        return Averaged.by_evidence([one.utility for one in held], (self.heard,) * len(held), odds)

    def utility(self) -> Utility:
        """What is believed with the most probable prior."""
        return self.beliefs().likeliest

    def taught(self, n: int) -> tuple[Said, ...]:
        """Those of the first ``n`` answers from which hyper-parameters are learned."""
        said = self.answers[:n]
        return said if n <= ENOUGH else tuple(said[i] for i in np.sort(stream(n).permutation(n)[:ENOUGH]))

    @property
    def heard(self) -> Likelihood:
        """How the answers came about, with the noise of each rater."""
        raters = 1 + max((one.rater for one in self.answers), default=0)
        return with_noise(self.likelihood, self.told_apart(scheduled(len(self.answers)))[0], raters)

    def told_apart(self, n: int) -> Apart:
        """The noise of every rater (() for 1) and ``Prior.own`` after ``n`` answers, at medians of hyper-parameters."""
        if n not in self.ears:
            taught, own = self.taught(n), 0.0
            noise: Sequence[float] = ()
            answers = np.bincount([one.rater for one in taught])
            if self.raters != "alike" and distinguishable(answers):
                used, data = about(taught)
                if self.raters == "individual":
                    own = ratio_of(self.hyper, self.points[used], data, self.likelihood)
                else:
                    prior = self.hyper.prior(self.hyper.median)
                    noise = rater_noise(prior, self.points[used], data, self.likelihood, len(answers)).tolist()
            self.ears = {n: (tuple(noise), own)}
        return self.ears[n]

    def learned(self, n: int) -> tuple[Held, ...]:
        """The priors that stay in question after the first ``n`` answers; unless ``averages``, the most probable one.

        A prior is judged by its odds times the evidence and the density of its hyper-parameters, where these are most
        probable.
        """
        used, data = about(self.taught(n))
        steps = 15 if self.learn else 0
        hypers = [deviating(h, self.told_apart(n)[1]) for h in self.hypers]
        found = [h.fit(self.points[used], data, self.heard, steps=steps) for h in hypers]
        odds = np.log([1.0] if len(found) == 1 else [1 - self.flat, self.flat])
        level = odds + np.array([value for _, value in found])
        kept = np.flatnonzero(level >= level.max() + math.log(LEAST)) if self.averages else [int(np.argmax(level))]
        held = []
        for i in kept:
            hyper, theta = hypers[i], found[i][0]
            chance = float(odds[i] + hyper.density(theta)[0])
            held.append(Held(hyper, theta, chance, self.condition(hyper, theta, self.answers[:n])))
        return tuple(held)

    def condition(
        self, hyper: Hyper, theta: FloatArray, said: Sequence[Said], before: Utility | None = None
    ) -> Utility:
        """The posterior after ``said``; the search for its mode starts from that of ``before``, their first ones."""
        data = Comparisons.of(said)
        points = self.points[: data.size]  # not those of later answers: the same numbers whenever this is computed
        return Utility.after(hyper.prior(theta), points, data, self.heard, before=before, infer=NEARLY)

    def standings(self, options: Any, rng: np.random.Generator, among: NDArray[np.bool_] | None = None) -> Standings:
        """What a recommendation says of ``options``: indices (n,) of a grid or rows (n, d) of a box."""
        rows = self.as_rows(options, len(options))
        return standings(self.chances(), rows, rng, among)

    def chances(self) -> Averaged:
        """What is said to a person: beliefs by expectation propagation, whose chances are within 0.015 of exact ones.

        They are averaged over how often this person may guess, unless ``lapse`` says it. Laplace's, with which
        questions are chosen, are off by 0.02 to 0.04 on average; they are taken where there are more than ``STATED``
        differences.
        """
        beliefs, key = self.beliefs(), ("chances", len(self.answers))
        if len(beliefs.likeliest.data) > STATED:
            return beliefs
        if key not in self.fits:
            self.fits[key] = beliefs.over_lapses({self.lapse: 1.0} if self.lapse > 0 else LAPSES)
        return self.fits[key]  # type: ignore[no-any-return]

    def believing(self, pending: Sequence[Any]) -> Averaged:
        """What would be believed if every open question were answered as expected; that tells nothing of the priors."""
        beliefs = self.beliefs()
        slates = [self.as_rows(slate, len(slate)) for slate in pending if len(slate) > 1]
        if not slates:
            return beliefs
        points, said = self.points, list(self.answers)
        for rows in slates:
            points, options = merged(points, rows)
            said.append(Said(options, Answer.best(int(np.argmax(beliefs.mean(rows))), len(rows)), rater=SHARED))
        data = Comparisons.of(said, len(points))
        now = [Utility.after(u.prior, points, data, self.heard, before=u, infer=NEARLY) for u in beliefs.members]
        return replace(beliefs, members=tuple(now))

    def champion(self, beliefs: Beliefs, *, quick: bool = False) -> FloatArray:
        """The row (d,) of largest posterior mean: exactly on a grid, by climbing on a box (``quick``: from fewer)."""
        if isinstance(self.domain, Grid):
            return np.array(self.domain.points[int(np.argmax(beliefs.mean(self.domain.points)))])
        restarts, finish = QUICK if quick else THOROUGH
        rows = np.vstack([top(beliefs, self.points, 8 if quick else 16), self.centre()])
        if quick:
            raw = np.vstack([rows, self.domain.sample(SAMPLED, stream(0))])
        else:
            raw = raw_points(self.domain, 4 * SAMPLED, rows, stream(0))
        found, values = peaks(beliefs.mean_path(self.domain), self.domain, raw, restarts=restarts, finish=finish)
        return np.array(found[0, int(np.argmax(values[0]))])

    @property
    def shown(self) -> FloatArray:
        """The allowed ones among the options compared so far, (q, d)."""
        return self.points[self.box.feasible(self.points)]

    def leader(self, utility: Utility) -> FloatArray:
        """The champion; with ``reuse``, the best option shown so far (d,)."""
        if self.reuse and len(self.shown):
            return np.array(top(utility, self.shown, 1)[0])
        return self.champion(utility, quick=True)

    def centre(self) -> FloatArray:
        """The allowed point nearest to the expected best one, (1, d)."""
        middle = np.full((1, self.domain.dim), 0.5)
        trend = self.hyper.trend
        if trend is not None:
            middle[0, list(trend.numeric)] = trend.centre
        middle = self.box.project(middle)
        return middle if self.box.feasible(middle)[0] else self.box.sample(1, stream(0))


def scheduled(n: int) -> int:
    """The last number of answers, at most ``n``, after which hyper-parameters are learned anew.

    >>> [scheduled(n) for n in (7, 20, 41, 43, 99, 100)]
    [7, 20, 40, 40, 99, 100]
    """
    while n > ALWAYS and n % (n // ALWAYS):
        n -= 1
    return n


def about(said: Sequence[Said]) -> tuple[NDArray[np.int64], Comparisons]:
    """Which points the answers name, (q,), and what they say, these points being 0 .. q - 1.

    >>> about([Said((5, 2), Answer.duel(0))])[0].tolist()
    [2, 5]
    """
    used = np.unique([i for one in said for i in one.slate]).astype(np.int64)
    place = {int(i): new for new, i in enumerate(used)}
    return used, Comparisons.of([one._replace(slate=tuple(place[i] for i in one.slate)) for one in said], len(used))


def merged(points: FloatArray, rows: FloatArray) -> tuple[FloatArray, tuple[int, ...]]:
    """``points`` (q, d) with the new ones among ``rows`` (m, d) appended, and where every row is among them."""
    options = []
    for row in rows:
        same = np.flatnonzero(np.all(np.abs(points - row) <= 1e-9, axis=1))
        options.append(int(same[0]) if len(same) else len(points))
        points = points if len(same) else np.vstack([points, row])
    return points, tuple(options)


def top(utility: Beliefs, rows: FloatArray, size: int) -> FloatArray:
    """The ``size`` rows (n, d) of largest posterior mean, best first."""
    return rows[np.argsort(-utility.mean(rows), kind="stable")[:size]] if len(rows) else rows
