"""How a simulated person answers one slate: one function, compiled with the policy or run as plain Python."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefopt.answer import Answer
from prefopt.jit import jitable

#: What is observed of a slate: every pair independently, one winner, or a full ranking.
FEEDBACK = {"pairs": 0, "winner": 1, "ranking": 2}


class World(NamedTuple):
    """A simulated person on K options. Everything a reply needs, as arrays and numbers.

    ``P`` already contains the link, the noise scale and the lapse rate.
    """

    P: NDArray[np.float64]  # (K, K): chance that row beats column, given that the person does not say "same"
    ties: NDArray[np.float64]  # (K, K) chance of "about the same", or (0, 0) if never
    worth: NDArray[np.float64]  # (K,) Plackett-Luce weights, or (0,): then products of P choose the winner
    feedback: int  # FEEDBACK
    observe: float  # chance that a pair of the slate is observed ("pairs" only)
    bias: float  # logits added to whatever is shown first
    fatigue: float  # growth, per answered question, of the chance of answering at random
    plain: bool  # every pair one bit, nothing of the above: the quick way


@jitable
def pair_probability(world: World, t: int, i: int, j: int) -> float:
    """P(i beats j) when i is shown before j, after t answers."""
    p = 0.5 if i == j else world.P[i, j]
    if world.bias != 0.0 and 0.0 < p < 1.0:
        p = 1.0 / (1.0 + (1.0 - p) / p * math.exp(-world.bias))
    if world.fatigue > 0.0:
        tired = min(1.0, world.fatigue * t)
        p = (1.0 - tired) * p + 0.5 * tired
    return p


@jitable
def reply_pairs(
    world: World, t: int, slate: NDArray[np.int64], m: int, wins: NDArray[np.float64], rng: np.random.Generator
) -> None:
    """Every pair of slots is an independent comparison; an option against itself is a fair coin."""
    for j in range(m):
        wins[j, j] = 0.0
        for k in range(j + 1, m):
            a, b = slate[j], slate[k]
            wins[j, k] = wins[k, j] = 0.0
            if world.observe < 1.0 and rng.random() >= world.observe:
                continue
            if world.ties.size > 0 and a != b and rng.random() < world.ties[a, b]:
                wins[j, k] = wins[k, j] = 0.5
            elif rng.random() < pair_probability(world, t, a, b):
                wins[j, k] = 1.0
            else:
                wins[k, j] = 1.0


@jitable
def weight(world: World, slate: NDArray[np.int64], m: int, wins: NDArray[np.float64], tired: bool, j: int) -> float:
    """Weight of position j: 1 for the tired, Plackett-Luce worth, or the product of P over the positions left."""
    if wins[j, j] > 0.0:  # taken
        return 0.0
    if tired:
        return 1.0
    if world.worth.size > 0:
        return float(world.worth[slate[j]] * (math.exp(world.bias) if j == 0 else 1.0))
    product = 1.0
    for k in range(m):
        if k != j and wins[k, k] == 0.0:
            forth = pair_probability(world, 0, slate[min(j, k)], slate[max(j, k)])
            product *= forth if j < k else 1.0 - forth
    return product


@jitable
def pick_winner(
    world: World, t: int, slate: NDArray[np.int64], m: int, wins: NDArray[np.float64], rng: np.random.Generator
) -> int:
    """One of the positions not taken (their ``wins[j, j]`` is 0), with chances proportional to ``weight``."""
    total = 0.0
    for j in range(m):
        total += weight(world, slate, m, wins, False, j)
    tired = total <= 0.0 or (world.fatigue > 0.0 and rng.random() < world.fatigue * t)
    if tired:
        total = 0.0
        for j in range(m):
            total += weight(world, slate, m, wins, True, j)
    u, last = rng.random() * total, 0
    for j in range(m):
        w = weight(world, slate, m, wins, tired, j)
        if w > 0.0:
            last = j
            u -= w
            if u < 0.0:
                break
    return last


@jitable
def reply_plain(
    world: World, t: int, slate: NDArray[np.int64], m: int, wins: NDArray[np.float64], rng: np.random.Generator
) -> None:
    """Independent pairs straight from P; needs ``world.plain``."""
    for j in range(m):
        for k in range(j + 1, m):
            first = 1.0 if rng.random() < world.P[slate[j], slate[k]] else 0.0
            wins[j, k], wins[k, j] = first, 1.0 - first


@jitable
def reply_choice(
    world: World, t: int, slate: NDArray[np.int64], m: int, wins: NDArray[np.float64], rng: np.random.Generator
) -> None:
    """One winner, or a full ranking drawn winner by winner."""
    for j in range(m):
        for k in range(m):
            wins[j, k] = 0.0
    for _ in range(m - 1 if world.feedback == 2 else min(1, m - 1)):
        winner = pick_winner(world, t, slate, m, wins, rng)
        wins[winner, winner] = 1.0  # marks the position as taken
        for k in range(m):
            if wins[k, k] == 0.0:
                wins[winner, k] = 1.0
    for j in range(m):
        wins[j, j] = 0.0


@jitable
def reply(
    world: World, t: int, slate: NDArray[np.int64], m: int, wins: NDArray[np.float64], rng: np.random.Generator
) -> None:
    """Answer the slate: fill ``wins[:m, :m]`` (1 row beat column, 0.5/0.5 a tie, 0/0 not compared).

    Args:
        world: the person.
        t: questions answered before.
        slate: option indices, the first m entries count.
        m: options on the slate.
        wins: buffer of at least (m, m).
        rng: the person's own stream.
    """
    if world.plain:
        reply_plain(world, t, slate, m, wins, rng)
    elif world.feedback == 0:
        reply_pairs(world, t, slate, m, wins, rng)
    else:
        reply_choice(world, t, slate, m, wins, rng)


def replier_for(world: World) -> Callable[..., None]:
    """The part of ``reply`` that people like ``world`` need: same answers, less to compile."""
    if world.plain:
        return reply_plain
    return reply_pairs if world.feedback == 0 else reply_choice


def as_answer(wins: NDArray[np.float64], feedback: str) -> Answer:
    """What ``reply`` wrote into ``wins`` (m, m), as the kind of answer that ``feedback`` asks for."""
    if feedback == "winner":
        return Answer.best(int(np.argmax(wins.sum(axis=1))), len(wins))
    if feedback == "ranking":
        return Answer.ranking([int(j) for j in np.argsort(-wins.sum(axis=1), kind="stable")], len(wins))
    return Answer.pairs(wins)
