"""Optuna's preferential studies: a sampler driven by a policy of ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from prefopt.answer import Answer
from prefopt.domain import is_finite
from prefopt.errors import MissingDependency, SettingError
from prefopt.integrations.preferences import Said, read_preferences
from prefopt.kinds import is_whole
from prefopt.policies import get_entry, make_policy, resolve_settings
from prefopt.seeding import stream
from prefopt.space import Space
from prefopt.study.create import default_strategy

try:
    import optuna
except ImportError as error:
    raise MissingDependency("optuna and optuna-dashboard", "optuna", "prefopt.integrations.optuna") from error

#: Further draws for an option that is not on the screen already, before one is drawn at random.
PATIENCE = 20


class PrefoptSampler(optuna.samplers.BaseSampler):  # type: ignore[misc]
    """A sampler for ``optuna_dashboard.preferential`` that proposes what a policy of prefopt wants compared next.

    A new trial joins those that are active on the dashboard; they are the policy's pending options. The whole range is
    searched, its ends included, and the same preferences and seed give the same trial in every process.

    Args:
        search_space: distributions by name. Without it the first trials, until one is compared, are drawn at random:
            Optuna knows the space only from what was suggested.
        strategy: name of a policy; None takes the default of a prefopt study, and "qeubo" where that would look
            ahead: the best trial is one that was made, so good options are proposed, not only telling ones.
        settings: its hyper-parameters.
        seed: None draws one.

    Raises:
        SettingError: an unknown policy, wrong settings, or one that does not take the space.

    >>> from optuna_dashboard.preferential import create_study
    >>> study = create_study(n_generate=2, sampler=PrefoptSampler(seed=1))
    >>> trials = [study.ask() for _ in range(2)]
    >>> sweet = [trial.suggest_int("sweet", 0, 3) for trial in trials]
    >>> study.report_preference(study.trials[0], study.trials[1])
    >>> study.ask().suggest_int("sweet", 0, 3) in range(4)
    True
    """

    def __init__(
        self,
        search_space: Mapping[str, Any] | None = None,
        *,
        strategy: str | None = None,
        settings: Mapping[str, Any] | None = None,
        seed: int | None = None,
    ) -> None:
        if seed is not None and not (is_whole(seed) and seed >= 0):
            raise SettingError(f"seed must be a whole number of at least 0 or None, got {seed!r}")
        self._fixed = None if search_space is None else dict(search_space)
        self._strategy = strategy
        self._settings = dict(settings or {})
        if strategy is not None:
            resolve_settings(strategy, self._settings)
        self._seed = int(np.random.SeedSequence().generate_state(1)[0]) if seed is None else int(seed)
        self._independent = optuna.samplers.RandomSampler(seed=self._seed % 2**32)
        self._search_space = optuna.search_space.IntersectionSearchSpace()

    def reseed_rng(self) -> None:
        """Take another seed; Optuna calls this in workers that share a sampler."""
        self._seed = int(np.random.SeedSequence().generate_state(1)[0])
        self._independent.reseed_rng()

    def infer_relative_search_space(self, study: Any, trial: Any) -> dict[str, Any]:
        """The distributions given, or those that all compared trials share."""
        return dict(self._fixed) if self._fixed is not None else self._search_space.calculate(study)

    def sample_relative(self, study: Any, trial: Any, search_space: dict[str, Any]) -> dict[str, Any]:
        """The parameters of the next trial."""
        if not search_space:
            return {}
        space = Space.from_optuna(search_space)
        said = read_preferences(study, search_space)
        rng = stream(self._seed, trial.number)
        active = [space.encode(params) for params in said.active]
        avoid = active + [space.encode(params) for params in said.skipped]
        policy = self._policy(space, said)
        return space.decode(next_option(policy, space.domain, rng, active, avoid))

    def sample_independent(self, study: Any, trial: Any, param_name: str, param_distribution: Any) -> Any:
        """A parameter that is not part of the common space, drawn at random."""
        return self._independent.sample_independent(study, trial, param_name, param_distribution)

    def _policy(self, space: Any, said: Said) -> Any:
        default = default_strategy(space.domain)
        strategy = self._strategy or get_entry(default).proposes or default
        if not is_finite(space.domain) and "box" not in get_entry(strategy).domains:
            raise SettingError(f"strategy {strategy!r} takes finite spaces only, these parameters are continuous")
        policy = make_policy(strategy, space.domain, **{"slate_size": 2, **self._settings})
        policy.init(stream(self._seed))
        slates = [np.array([space.encode(p) for p in options]) for options, _ in said.answers]
        lessons: Sequence[tuple[Any, Answer]] = [(s, a) for s, (_, a) in zip(slates, said.answers, strict=True)]
        if lessons and callable(getattr(policy, "learn", None)):
            policy.learn(iter(lessons))
        else:
            for number, (slate, answer) in enumerate(lessons):
                policy.tell(slate, answer, stream(self._seed, number, 1))
        return policy


def next_option(policy: Any, domain: Any, rng: np.random.Generator, active: Sequence[Any], avoid: Sequence[Any]) -> Any:
    """An option that the policy wants compared with those that are ``active`` and that is not in ``avoid``.

    A policy asks for a slate; the places that active options hold already need no trial.
    """
    pending = [np.array([option]) for option in active]
    for _ in range(PATIENCE):
        for option in policy.ask(rng, pending):
            if not any(_same(option, other) for other in avoid):
                return option
    if not is_finite(domain):
        return domain.sample(1, rng)[0]
    free = [i for i in range(domain.size) if not any(_same(i, other) for other in avoid)]
    return int(rng.choice(free)) if free else int(rng.integers(domain.size))


def _same(a: Any, b: Any) -> bool:
    return bool(np.allclose(a, b, rtol=0.0, atol=1e-9))
