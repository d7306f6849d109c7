"""Repetitions of a policy against a simulated person, spread over threads, processes or machines by joblib."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from prefopt.domain import Arms, Grid
from prefopt.environments import make_environment
from prefopt.environments.base import FiniteEnvironment
from prefopt.errors import SettingError
from prefopt.policies import get_entry, make_policy
from prefopt.regret import score
from prefopt.seeding import stream
from prefopt.simulation.checking import check_environment, check_fit, check_numbers, check_policy, regret_names, spread
from prefopt.simulation.driver import Run, compiled_loop, make_loop, run_finite, warm_up
from prefopt.simulation.plain import run_plain
from prefopt.simulation.results import Results, manifest


@dataclass(frozen=True)
class Plan:
    """All that a worker needs to run any repetition; picklable."""

    policy: str | Callable[..., Any]
    settings: Mapping[str, Any]
    environment: Any
    regrets: tuple[str, ...]
    checkpoints: tuple[int, ...]
    slate_size: int
    seed: int
    relabel: bool = True
    compiled: bool = True
    record: bool = False

    @property
    def domain(self) -> Any:
        """What the policy is told of the options: bare arms unless it can use their features."""
        domain = self.environment.domain
        if isinstance(domain, Grid) and isinstance(self.policy, str) and "grid" not in get_entry(self.policy).domains:
            return Arms(domain.size)
        return domain

    def make_policy(self) -> Any:
        """A fresh policy, told the slate size and the number of rounds."""
        given = {"slate_size": self.slate_size, "horizon": self.checkpoints[-1], **self.settings}
        if isinstance(self.policy, str):
            return make_policy(self.policy, self.domain, **given)
        return self.policy(self.domain, **given)

    def compiles(self, policy: Any) -> bool:
        """Whether this pair runs in the compiled loop's form: the rules are then all that the policy does."""
        ruled = hasattr(policy, "rules") and not getattr(policy, "reuse", False)
        return ruled and isinstance(self.environment, FiniteEnvironment)


def run_repetition(plan: Plan, repetition: int) -> tuple[Run, NDArray[np.float64]]:
    """Repetition number ``repetition`` of ``plan``, and the inference regrets (C, 2) of what it recommended.

    Its random streams depend on the seed and this number only, so it is the same whatever else runs.
    The second column (utility) is nan where there is no utility.
    """
    policy = plan.make_policy()
    person, rng = stream(plan.seed, repetition, 1), stream(plan.seed, repetition, 0)
    environment = plan.environment
    if plan.relabel and isinstance(plan.domain, Arms) and hasattr(environment, "relabelled"):
        environment = environment.relabelled(stream(plan.seed, repetition, 2).permutation(environment.domain.size))
    checkpoints = np.array(plan.checkpoints, dtype=np.int64)
    if plan.compiles(policy):
        losses = score(environment, plan.regrets, np.arange(environment.domain.size))
        quick = plan.compiled and compilable(policy)
        loop = compiled_loop(policy.rules, environment.world) if quick else make_loop(policy.rules)
        run = run_finite(loop, policy, environment.world, losses, rng, person, checkpoints, record=plan.record)
    else:
        run = run_plain(policy, environment, plan.regrets, rng, person, checkpoints)
    gap = environment.utility_gap(run.recommended)
    utility = np.full(len(checkpoints), np.nan) if gap is None else gap / utility_range(environment)
    return run, np.stack([environment.advantage(run.recommended), utility], axis=1)


def utility_range(environment: Any) -> float:
    """Largest minus smallest utility over the domain (1 if all are equal)."""
    value = getattr(environment, "utility_range", None)
    if value is None:
        value = float(np.ptp(environment.utility))
    return float(value) or 1.0


def compilable(policy: Any) -> bool:
    """Whether the policy's rules can be compiled; they can unless it says otherwise."""
    return getattr(policy, "compilable", True)


def compile_for(plan: Plan) -> bool:
    """Compile the loop of ``plan`` in this process if it is to be compiled; says whether it is."""
    policy = plan.make_policy()
    if not (plan.compiled and plan.compiles(policy) and compilable(policy)):
        return False
    everything = np.arange(plan.environment.domain.size)
    warm_up(policy, plan.environment.world, score(plan.environment, plan.regrets, everything))
    return True


def run_chunk(plan: Plan, repetitions: Sequence[int]) -> list[tuple[Run, NDArray[np.float64]]]:
    """Several repetitions in one worker, each on one BLAS thread."""
    with threadpool_limits(1):
        compile_for(plan)
        return [run_repetition(plan, r) for r in repetitions]


def simulate(
    policy: str | Callable[..., Any],
    environment: Any,
    *,
    rounds: int,
    repetitions: int = 1,
    seed: int = 0,
    jobs: int = 1,
    regret: str | Sequence[str] = "strong-sum",
    slate_size: int = 2,
    feedback: str | None = None,
    settings: Mapping[str, Any] | None = None,
    checkpoints: Sequence[int] | None = None,
    relabel: bool = True,
    compiled: bool = True,
    record: bool = False,
    progress: bool = False,
) -> Results:
    """Play ``policy`` against ``environment`` and keep its regrets.

    Args:
        policy: a name in ``POLICIES``, or a callable ``policy(domain, slate_size=, horizon=, **settings)``.
        environment: a name, CSV path or preference matrix for ``make_environment``, or an environment.
        rounds: questions per repetition, T.
        repetitions: independent repetitions; number r depends on ``seed`` and r alone.
        seed: of every random stream; the person's stream is the same for every policy.
        jobs: parallel workers (threads for compiled loops, processes otherwise). A surrounding
            ``joblib.parallel_config`` (Dask, Ray, ...) takes precedence.
        regret: one or several names in ``REGRETS``.
        slate_size: m, options per question.
        feedback: "pairs", "winner" or "ranking"; None keeps the environment's own.
        settings: hyper-parameters of the policy, or ``{"preset": name}``.
        checkpoints: question numbers at which regret is kept; by default up to 100, evenly spread.
        relabel: shuffle the names of bare arms in every repetition.
        compiled: false runs the same functions as plain Python.
        record: keep every slate (finite policies).
        progress: show a bar on standard error.

    Raises:
        SettingError: an unknown name, or a value of another type or out of range; the message names it.
    """
    check_numbers(rounds, repetitions, seed, jobs, slate_size)
    check_policy(policy)
    check_environment(environment)
    kinds = regret_names(regret)
    if settings is not None and not isinstance(settings, Mapping):
        raise SettingError(f"settings must be a dict such as {{'preset': 'default'}}, got {settings!r}")
    person = make_environment(environment, feedback=feedback)
    check_fit(policy, person, slate_size)
    chosen = dict(settings or {})
    if person_feedback(person) == "winner" and takes_feedback(policy):
        chosen.setdefault("feedback", "winner")
    plan = Plan(
        policy,
        chosen,
        person,
        kinds,
        tuple(int(c) for c in spread(rounds, checkpoints)),
        slate_size,
        seed,
        relabel,
        compiled,
        record,
    )
    return execute(plan, repetitions, jobs, progress)


def person_feedback(environment: Any) -> str:
    """What the person tells of a slate."""
    return str(getattr(environment, "feedback", "pairs"))


def takes_feedback(policy: str | Callable[..., Any]) -> bool:
    """Whether the policy has a setting that says what kind of feedback will come."""
    return isinstance(policy, str) and get_entry(policy).takes_feedback


def execute(plan: Plan, repetitions: int, jobs: int, progress: bool) -> Results:
    """Run every repetition of ``plan`` and gather them in order."""
    compiled = compile_for(plan)  # here, so that it is not counted and threads find it done
    began = time.perf_counter()
    pieces = min(repetitions, max(1, 8 * abs(jobs)))
    chunks = [c.tolist() for c in np.array_split(np.arange(repetitions), pieces)]
    tasks = (delayed(run_chunk)(plan, chunk) for chunk in chunks)
    with Parallel(n_jobs=jobs, prefer="threads" if compiled else None) as pool:
        done = [run for part in watch(pool(tasks), len(chunks), progress) for run in part]
    seconds = time.perf_counter() - began
    runs = [run for run, _ in done]
    return Results(
        policy=plan.policy if isinstance(plan.policy, str) else getattr(plan.policy, "__name__", repr(plan.policy)),
        environment=plan.environment.name,
        regrets=plan.regrets,
        checkpoints=np.array(plan.checkpoints),
        regret=np.stack([run.regret for run in runs]),
        recommended=np.stack([run.recommended for run in runs]),
        inference=np.stack([inference for _, inference in done]),
        slates=[run.slates for run in runs] if plan.record else [],
        cpu_seconds=np.array([run.seconds for run in runs]),
        seconds=seconds,
        manifest=manifest(plan, repetitions),
    )


def watch(parts: Iterable[Any], total: int, progress: bool) -> Iterable[Any]:
    """Pass ``parts`` through, with a bar on standard error if asked for."""
    if not progress:
        return parts
    from rich.console import Console
    from rich.progress import track

    return track(parts, total=total, description="simulating", console=Console(stderr=True))
