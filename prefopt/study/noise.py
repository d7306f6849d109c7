"""How noisy each rater is, compared with the others, and whether they want the same."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prefopt.domain import Arms, Box
from prefopt.errors import StudyError
from prefopt.models.utility.comparisons import Comparisons, Said
from prefopt.models.utility.hyper import Hyper
from prefopt.models.utility.likelihood import Likelihood
from prefopt.models.utility.raters import rater_noise, shared_and_individual
from prefopt.study.fold import State


@dataclass(frozen=True)
class RaterModel:
    """What utility models say of the raters.

    Attributes:
        noise: the noise of every rater whose answers count, if all want the same: 1 is what is expected of anybody
            before any answer, a rater of 2 has to see twice the difference to be as sure.
        deviation: variance of what is a rater's own, as a ratio to that of the shared utility: 0 if all want the same.
    """

    noise: dict[str | None, float]
    deviation: float

    def lines(self) -> list[str]:
        """The same in sentences."""
        noises = [f"{who or 'the rater'}: noise {value:.2f} (1 is expected)" for who, value in self.noise.items()]
        if len(self.noise) < 2:
            return noises
        if not self.deviation:
            return [*noises, "the raters want the same, as far as the answers tell"]
        return [*noises, f"what is a rater's own varies {self.deviation:g} times as much as what is shared"]


def rater_model(state: State) -> RaterModel:
    """The pooled model with a noise of each rater's own, and the shared model with individual deviations.

    Raises:
        StudyError: there is no answer, or the options have no neighbours.
    """
    domain, lessons = state.space.domain, [x for x in state.lessons() if x.answer.kind != "skip"]
    if isinstance(domain, Arms):
        raise StudyError("rater_model() needs parameters: a list of options has no neighbours to learn from")
    if not lessons:
        raise StudyError(f"study {state.record.name!r} has no answer yet")
    raters = list(dict.fromkeys(lesson.event.rater for lesson in lessons))
    ids = sorted({i for lesson in lessons for i in lesson.slate})
    options = [state.options.option(i) for i in ids]
    points = domain.points[options] if state.options.finite else np.array(options, dtype=np.float64)
    row = {i: place for place, i in enumerate(ids)}
    said = [Said(tuple(row[i] for i in x.slate), x.answer, rater=raters.index(x.event.rater)) for x in lessons]
    hyper = Hyper(domain if isinstance(domain, Box) else Box(points.shape[1]))
    prior, likelihood = hyper.prior(hyper.median), Likelihood()
    noise = rater_noise(prior, points, Comparisons.of(said, len(points)), likelihood, len(raters))
    _, deviation = shared_and_individual(prior, points, said, likelihood)
    return RaterModel({who: float(value) for who, value in zip(raters, noise, strict=True)}, deviation)
