"""How reliable the answers and the raters are: worth a remark, never a reason to refuse an answer."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

from prefopt.kinds import counted
from prefopt.study.agreement import Agreement
from prefopt.study.fold import State
from prefopt.study.question import Candidate
from prefopt.study.reliability import REMARKABLE, Reliability, agreement, plain_p, reliability

#: A pair compared more often than this is worth a remark.
OFTEN = 5
#: So many remarks of one kind are written out.
MOST_LINES = 3


@dataclass(frozen=True)
class Diagnostics:
    """How consistent the answers are. All of them count for the model, whatever is found here.

    Attributes:
        contradictions: (a, b, n, k): a was preferred to b n times, and b to a k times, n >= k >= 1.
        cycle: a shortest circle of three or more, each preferred to the next and the last to the first (by
            majority); empty if there is none.
        repeated: (a, b, n): a pair compared n times, more than ``OFTEN``.
        raters: how reliable each rater is: position bias, repeats, drift, circles, seconds.
        agreement: how alike the raters answered; None if no question was answered by two of them.
    """

    contradictions: tuple[tuple[Candidate, Candidate, int, int], ...] = ()
    cycle: tuple[Candidate, ...] = ()
    repeated: tuple[tuple[Candidate, Candidate, int], ...] = ()
    raters: tuple[Reliability, ...] = ()
    agreement: Agreement | None = None

    def lines(self, describe: Callable[[Candidate], str] = lambda c: f"{c.params} (candidate {c.id})") -> list[str]:
        """The same in sentences, most of them if there are many; none if nothing stands out."""
        said = [
            f"{describe(a)} was preferred to {describe(b)} {_times(n)}, and the other way round {_times(k)}"
            for a, b, n, k in self.contradictions
        ]
        lines = _shortened(said, "pairs that were answered both ways")
        if self.cycle:
            circle = " over ".join(map(describe, (*self.cycle, self.cycle[0])))
            lines.append(f"the answers go round in a circle: {circle}")
        if lines:
            lines.append("that is normal for close options, and every answer counts; undo() takes back a slip")
        often = [
            f"{describe(a)} and {describe(b)} were compared {_times(n)}: a repeated pair adds little"
            for a, b, n in self.repeated
        ]
        lines += _shortened(often, "pairs that were repeated")
        return (
            lines + [line for rater in self.raters if not rater.removed for line in rater.remarks()] + self._opposites()
        )

    def summary(self) -> list[str]:
        """A line for every rater, and one for their agreement."""
        lines = [rater.summary() for rater in self.raters]
        if self.agreement is None:
            return lines
        found = self.agreement
        questions = counted(found.questions, "question")
        return [*lines, f"agreement {found.coefficient:.2f} on {questions} answered by two or more (chance is 0)"]

    def _opposites(self) -> list[str]:
        pairs = () if self.agreement is None else self.agreement.pairs
        return [
            f"{' and '.join(name or 'the rater' for name in pair.raters)} chose the same option in {pair.alike} of "
            f"{pair.questions} common questions: they prefer opposite things, p = {plain_p(pair.p)}"
            for pair in pairs
            if pair.coefficient < 0 and pair.p < REMARKABLE
        ]


def diagnose(state: State, noises: Mapping[str | None, float] | None = None) -> Diagnostics:
    """Contradictions, a circle and repeated pairs among the answers in force, and how reliable the raters are.

    ``noises``: what the policy believes of the raters' noise, as in ``Reliability``.
    """
    compared: Counter[tuple[int, int]] = Counter()
    won: Counter[tuple[int, int]] = Counter()
    for lesson in state.lessons():
        wins = lesson.answer.wins
        for j, k in combinations(range(len(lesson.slate)), 2):
            a, b = lesson.slate[j], lesson.slate[k]
            if wins[j, k] + wins[k, j] > 0:
                compared[min(a, b), max(a, b)] += 1
                won[a, b] += bool(wins[j, k] > wins[k, j])
                won[b, a] += bool(wins[k, j] > wins[j, k])
    ahead = [(a, b) for (a, b), n in won.items() if n and (n > won[b, a] or (n == won[b, a] and a < b))]
    both = sorted((pair for pair in ahead if won[pair[::-1]]), key=lambda p: (-won[p[::-1]], p))
    beaten: dict[int, list[int]] = {}
    for a, b in sorted(ahead):
        if won[a, b] > won[b, a]:
            beaten.setdefault(a, []).append(b)
    candidate = state.candidate
    return Diagnostics(
        tuple((candidate(a), candidate(b), won[a, b], won[b, a]) for a, b in both),
        tuple(map(candidate, shortest_cycle(beaten))),
        tuple((candidate(a), candidate(b), n) for (a, b), n in compared.most_common() if n > OFTEN),
        reliability(state, noises or {}),
        agreement(state),
    )


def shortest_cycle(edges: Mapping[int, Iterable[int]]) -> list[int]:
    """A shortest directed cycle, from its smallest starting node; empty if there is none.

    >>> shortest_cycle({0: [1], 1: [2, 3], 2: [0], 3: []})
    [0, 1, 2]
    """
    best: list[int] = []
    for start in edges:
        before: dict[int, int] = {}
        queue = deque([start])
        while queue and start not in before:
            node = queue.popleft()
            for other in edges.get(node, ()):
                if other not in before:
                    before[other] = node
                    queue.append(other)
        if start in before:
            path = [before[start]]
            while path[-1] != start:
                path.append(before[path[-1]])
            if not best or len(path) < len(best):
                best = path[::-1]
    return best


def _times(n: int) -> str:
    return {1: "once", 2: "twice"}.get(n, f"{n} times")


def _shortened(said: list[str], what: str) -> list[str]:
    rest = len(said) - MOST_LINES
    return said if rest <= 0 else [*said[:MOST_LINES], f"... and {rest} more {what}"]
