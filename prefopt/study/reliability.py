"""How reliable every rater is, as far as the answers tell."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from prefopt.kinds import counted
from prefopt.study.agreement import Agreement, agree, two_sided
from prefopt.study.fold import State
from prefopt.study.position import Places, examine
from prefopt.study.said import Lesson
from prefopt.study.triads import Triads, count_triads

#: What is as improbable as this is worth a remark.
REMARKABLE = 0.01
#: So many repeats say something of a rater.
FEW = 4
#: A rater of such a noise tells a quarter of what others do, and counts so.
NOISY = 2.0
#: A rater who repeats so seldom the same answer is hardly better than a coin.
SHAKY = 0.7


@dataclass(frozen=True)
class Halves:
    """The first and the second half of a rater's answers.

    Attributes:
        alike: answers in each half that agree with what else was said of their options.
        judged: answers in each half of which that can be told.
        p: two-sided probability of such a difference in agreement by chance (Fisher's exact test). Later questions are
            about closer options, so that some decline is normal.
        seconds: median seconds of an answer in each half, where they were measured.
        p_seconds: the same for the seconds (Mann and Whitney's test).
    """

    alike: tuple[int, int] = (0, 0)
    judged: tuple[int, int] = (0, 0)
    p: float = 1.0
    seconds: tuple[float, float] | None = None
    p_seconds: float = 1.0


@dataclass(frozen=True)
class Reliability:
    """One rater.

    Attributes:
        rater: the id; None is the person without a name.
        answers: how many, skips not counted.
        ties: how many said "about the same".
        skips: how many questions were skipped.
        seconds: median seconds of an answer; None if nobody measured.
        repeats: how many questions were repeated in secret, and answered twice.
        alike: how many of these were answered the same way.
        error: share of answers that are slips, as the repeats tell: alike = (1 - error)^2 + error^2; None without any.
        repeats_first: how often the first option shown was chosen in these repeats.
        places: the test for position bias.
        halves: drift.
        triads: circles among three options.
        removed: whether these answers count no more.
        noise: how noisy the strategy takes the rater to be, 1 being the usual: at 2 an option has to be twice as good
            to be chosen as surely, and an answer counts a quarter. None if it takes all raters for alike.
    """

    rater: str | None
    answers: int
    ties: int
    skips: int
    seconds: float | None
    repeats: int
    alike: int
    error: float | None
    repeats_first: int
    places: Places
    halves: Halves
    triads: Triads
    removed: bool = False
    noise: float | None = None

    @property
    def name(self) -> str:
        """The rater in a sentence."""
        return "the rater" if self.rater is None else self.rater

    def remarks(self) -> list[str]:
        """What stands out, in sentences."""
        return [*self._bias(), *self._repeats(), *self._drift(), *self._noise()]

    def summary(self) -> str:
        """One line with all numbers."""
        said = [f"{self.name}: {counted(self.answers, 'answer')}", f"{counted(self.ties, 'tie')}, {self.skips} skipped"]
        said += [] if self.seconds is None else [f"{self.seconds:.1f} s each"]
        said += [f"first option chosen in {self.places.first} of {self.places.answers}"] if self.places.answers else []
        said += [f"{self.alike} of {self.repeats} repeats alike"] if self.repeats else []
        if self.triads.consistency is not None:
            said.append(f"{self.triads.circular} of {self.triads.compared} triads circular")
        said += [] if self.noise is None else [f"noise {self.noise:.1f} (1 is usual)"]
        return ", ".join([*said, *(["removed"] if self.removed else [])])

    def _bias(self) -> list[str]:
        places = self.places
        if places.biased is None:
            return []
        left = places.first >= places.last
        side, count = ("first (left)", places.first) if left else ("last (right)", places.last)
        said = f"{self.name} chose the {side} option in {count} of {places.answers} answers: position bias, "
        lines = [said + f"p = {plain_p(places.p)}"]
        if self.repeats >= FEW:
            chosen = self.repeats_first if left else self.repeats - self.repeats_first
            p = plain_p(two_sided(chosen, [0.5] * self.repeats))
            lines.append(f"{self.name} chose it in {chosen} of {self.repeats} repeats with the sides swapped, p = {p}")
        return lines

    def _repeats(self) -> list[str]:
        if self.repeats < FEW or self.alike > SHAKY * self.repeats:
            return []
        return [
            f"{self.name} answered {self.alike} of {self.repeats} repeated questions the same way: hardly more than a "
            "coin would"
        ]

    def _noise(self) -> list[str]:
        if self.noise is None or self.noise < NOISY:
            return []
        return [
            f"{self.name} answers with {self.noise:.1f} times the usual noise: an answer counts as little as "
            f"{1 / self.noise**2:.0%} of another's"
        ]

    def _drift(self) -> list[str]:
        halves, said = self.halves, []
        if halves.p < REMARKABLE:
            first, second = (f"{a} of {n}" for a, n in zip(halves.alike, halves.judged, strict=True))
            said.append(
                f"{self.name} agreed with the other answers in {first} in the first half and in {second} in the "
                f"second: drift, p = {plain_p(halves.p)}"
            )
        if halves.seconds is not None and halves.p_seconds < REMARKABLE:
            before, after = halves.seconds
            said.append(f"{self.name} took {before:.1f} s for an answer in the first half and {after:.1f} s later")
        return said


def reliability(state: State, noises: Mapping[str | None, float]) -> tuple[Reliability, ...]:
    """Every rater who answered a question, in the order of first answers; those removed too."""
    by_rater: dict[str | None, list[Lesson]] = defaultdict(list)
    for lesson in state.spoken():
        if lesson.question is not None and lesson.excluded is None:
            by_rater[lesson.event.rater].append(lesson)
    shares = Shares(state)
    return tuple(replace(_of(state, rater, said, shares), noise=noises.get(rater)) for rater, said in by_rater.items())


def agreement(state: State) -> Agreement | None:
    """How alike raters answered the questions about the same options; of several answers the first counts."""
    answers: dict[str | None, dict[tuple[Hashable, int], int]] = defaultdict(dict)
    for lesson in state.lessons():
        named = choice(lesson)
        if lesson.question is not None and named is not None:
            answers[lesson.event.rater].setdefault((frozenset(lesson.slate), len(lesson.slate)), named)
    return agree(answers)


def choice(lesson: Lesson) -> int | None:
    """The option called the best; None if none was."""
    answer, slate = lesson.answer, lesson.slate
    if answer.kind in ("best", "ranking"):
        return slate[answer.order[0]]
    if answer.kind == "worst" and len(slate) == 2:
        return slate[1 - answer.order[0]]
    return None


def place(lesson: Lesson) -> tuple[int, int] | None:
    """Where on the screen the option was that was named first, and how many there were."""
    if lesson.question is None or not lesson.answer.order:
        return None
    shown = [i for i in lesson.question.shown if i in lesson.slate]
    return shown.index(lesson.slate[lesson.answer.order[0]]), len(shown)


class Shares:
    """What all answers say of an option, less one answer."""

    def __init__(self, state: State) -> None:
        tally = state.tally()
        self.tries, self.wins = tally.tries, tally.wins
        self.state = state

    def agrees(self, lesson: Lesson) -> bool | None:
        """Whether the option chosen is the one that the other answers put first; None if they do not say."""
        named = choice(lesson)
        if named is None:
            return None
        ids = list(lesson.slate)
        own = lesson.answer.wins if self.state.counts(lesson) else np.zeros_like(lesson.answer.wins)
        wins = self.wins[ids] - own.sum(axis=1)
        tries = self.tries[ids] - (own + own.T).sum(axis=1)
        share = (wins + 1) / (tries + 2)
        rest = np.delete(share, ids.index(named)).max()
        mine = share[ids.index(named)]
        return None if math.isclose(mine, rest) else bool(mine > rest)


def _of(state: State, rater: str | None, said: list[Lesson], shares: Shares) -> Reliability:
    answers = [lesson for lesson in said if lesson.answer.kind != "skip"]
    seconds = [lesson.event.seconds for lesson in answers if lesson.event.seconds is not None]
    both = list(_both(state, answers, rater))
    alike = sum(first == second for first, second, _ in both)
    won: Counter[tuple[int, int]] = Counter()
    for lesson in answers:
        for j, k in np.argwhere(lesson.answer.wins > lesson.answer.wins.T):
            won[lesson.slate[j], lesson.slate[k]] += 1
    return Reliability(
        rater=rater,
        answers=len(answers),
        ties=sum(lesson.answer.kind == "tie" for lesson in answers),
        skips=len(said) - len(answers),
        seconds=float(np.median(seconds)) if seconds else None,
        repeats=len(both),
        alike=alike,
        error=_slips(alike / len(both)) if both else None,
        repeats_first=sum(place == 0 for _, _, place in both),
        places=examine([found for lesson in answers if (found := place(lesson)) is not None]),
        halves=_halves(answers, shares),
        triads=count_triads(won),
        removed=not state.raters.counts(rater),
    )


def _both(state: State, answers: Sequence[Lesson], rater: str | None) -> list[tuple[int, int, int]]:
    """Of every repeat: the option chosen at first, the one chosen again, and the place of that."""
    found = []
    for lesson in answers:
        again = lesson.question.again if lesson.question is not None else None
        before = state.questions[again] if again is not None else None
        if before is None or before.event.rater != rater or before.lesson is None or not before.lesson.active:
            continue
        first, second, where = choice(before.lesson), choice(lesson), place(lesson)
        if first is not None and second is not None and where is not None:
            found.append((first, second, where[0]))
    return found


def _slips(alike: float) -> float:
    """The share of slips of which two answers are alike with this frequency: alike = (1 - e)^2 + e^2, e <= 1/2."""
    return (1 - math.sqrt(max(0.0, 2 * alike - 1))) / 2


def _halves(answers: Sequence[Lesson], shares: Shares) -> Halves:
    from scipy.stats import fisher_exact, mannwhitneyu  # takes a second, and nobody waits for it here

    middle = len(answers) // 2
    parts = answers[:middle], answers[middle:]
    judged = [[found for lesson in part if (found := shares.agrees(lesson)) is not None] for part in parts]
    times = [[x.event.seconds for x in part if x.event.seconds is not None] for part in parts]
    alike, total = tuple(map(sum, judged)), tuple(map(len, judged))
    p, p_seconds, seconds = 1.0, 1.0, None
    if all(total):
        p = float(fisher_exact([[a, n - a] for a, n in zip(alike, total, strict=True)]).pvalue)
    if all(times):
        seconds = float(np.median(times[0])), float(np.median(times[1]))
        p_seconds = float(mannwhitneyu(*times).pvalue)
    return Halves((alike[0], alike[1]), (total[0], total[1]), p, seconds, p_seconds)


def plain_p(p: float) -> str:
    """A probability with two digits, in plain notation.

    >>> plain_p(0.00418), plain_p(1e-9)
    ('0.0042', '0.0001 or less')
    """
    return "0.0001 or less" if p <= 1e-4 else f"{p:.2g}"
