"""The loop of a simulation on a finite domain: policy, person and regret compiled into one function."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numba.core.errors import NumbaError
from numpy.typing import NDArray

from prefopt.environments.world import World, replier_for, reply
from prefopt.policies.base import Rules
from prefopt.regret import Score, slate_regret


class Run(NamedTuple):
    """One repetition.

    Attributes:
        regret: cumulative regrets at the checkpoints, (C, R).
        recommended: the option recommended at each checkpoint, (C,).
        slates: every slate asked, padded with -1, (T, max_slate), or (0, max_slate) if not recorded.
        seconds: CPU time of the loop.
    """

    regret: NDArray[np.float64]
    recommended: NDArray[Any]
    slates: NDArray[np.int64]
    seconds: float


def make_loop(rules: Rules, reply: Callable[..., None] = reply) -> Callable[..., None]:
    """The plain Python loop over ``rules``; ``compiled_loop`` compiles exactly this."""
    ask, tell, best = rules

    def loop(
        state: Any,
        world: World,
        score: Score,
        rng: np.random.Generator,
        person: np.random.Generator,
        slate: NDArray[np.int64],
        wins: NDArray[np.float64],
        checkpoints: NDArray[np.int64],
        regret: NDArray[np.float64],
        recommended: NDArray[np.int64],
        slates: NDArray[np.int64],
    ) -> None:
        t = 0
        for c in range(checkpoints.size):
            for r in range(score.reduce.size):
                regret[c, r] = regret[c - 1, r] if c > 0 else 0.0
            while t < checkpoints[c]:
                m = ask(state, rng, slate)
                reply(world, t, slate, m, wins, person)
                for r in range(score.reduce.size):
                    regret[c, r] += slate_regret(score, r, slate, m)
                tell(state, slate, m, wins, rng)
                if slates.shape[0] > 0:
                    for j in range(m):
                        slates[t, j] = slate[j]
                t += 1
            recommended[c] = best(state)

    return loop


_compiled: dict[tuple[Any, ...], Callable[..., None]] = {}
_lock = threading.Lock()


def compiled_loop(rules: Rules, world: World) -> Callable[..., None]:
    """The loop over ``rules`` with people like ``world``, compiled once per process at its first call.

    It releases the GIL. Nothing is cached on disk, so an edited policy is never served stale.
    """
    with _lock:
        key = (rules, replier_for(world))
        if key not in _compiled:
            _compiled[key] = Loop(make_loop(*key))
        return _compiled[key]


class Loop:
    """A loop compiled at its first call: without reference counts if its rules allocate nothing.

    Counting the references to a state's arrays takes most of the time of a short rule (measured: three
    quarters of RUCB's). Rules that make arrays of their own cannot do without and get the slower loop.
    """

    def __init__(self, plain: Callable[..., None]) -> None:
        compiled = partial(njit, nogil=True, error_model="numpy", no_cfunc_wrapper=True)
        self._counted = compiled()(plain)
        self._call = compiled(_nrt=False)(plain)

    @property
    def allocates(self) -> bool:
        """Whether the rules turned out to make arrays of their own."""
        return self._call is self._counted

    def __call__(self, *args: Any) -> None:
        """Run the loop; the first call compiles it."""
        try:
            self._call(*args)
        except NumbaError:  # compiling fails before anything has run
            if self.allocates:
                raise
            self._call = self._counted
            self._call(*args)


def run_finite(
    loop: Callable[..., None],
    policy: Any,
    world: World,
    score: Score,
    rng: np.random.Generator,
    person: np.random.Generator,
    checkpoints: NDArray[np.int64],
    *,
    record: bool = False,
) -> Run:
    """One repetition of a finite policy: start it with ``rng``, run ``loop`` to the last checkpoint."""
    policy.init(rng)
    width = policy.max_slate
    regret = np.zeros((checkpoints.size, score.reduce.size))
    recommended = np.zeros(checkpoints.size, dtype=np.int64)
    slates = np.full((int(checkpoints[-1]) if record else 0, width), -1, dtype=np.int64)
    slate, wins = np.zeros(width, dtype=np.int64), np.zeros((width, width))
    began = time.thread_time()
    loop(policy.state, world, score, rng, person, slate, wins, checkpoints, regret, recommended, slates)
    return Run(regret, recommended, slates, time.thread_time() - began)


_warm: set[tuple[Any, ...]] = set()


def warm_up(policy: Any, world: World, score: Score) -> None:
    """Compile the loop of ``policy`` by running it for one round; does nothing the second time."""
    loop = compiled_loop(policy.rules, world)
    policy.init(np.random.default_rng(0))
    key = (loop, *(getattr(x, "ndim", type(x)) for x in policy.state))
    if key not in _warm:
        rng = np.random.default_rng(0)
        run_finite(loop, policy, world, score, rng, rng, np.ones(1, dtype=np.int64))
        _warm.add(key)
