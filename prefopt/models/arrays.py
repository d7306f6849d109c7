"""Array steps of the posterior on a finite set: NumPy rows for a person, plain loops when compiled.

Both forms do the same floating-point operations in the same order, so their results are equal to the last bit.
A compiled caller gets the loops (registered with numba below), a Python caller the NumPy form.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba.extending import overload
from numpy.typing import NDArray

from prefopt.jit import JIT_OPTIONS, jitable

FloatArray = NDArray[np.float64]
#: The loops are long: one copy of each is enough, and takes less time to compile than one at every call.
ONE_COPY = {**JIT_OPTIONS, "forceinline": False}


def fill_normal(out: FloatArray, rng: np.random.Generator) -> None:
    """Standard normals into ``out`` (K,)."""
    rng.standard_normal(out=out)


def _fill_normal(out: FloatArray, rng: np.random.Generator) -> None:
    for i in range(out.size):
        out[i] = rng.standard_normal()


def add_rows(out: FloatArray, weights: FloatArray, rows: FloatArray) -> None:
    """``out`` (K,) += sum of ``weights[i] * rows[i]`` over the weights (R,) that are not zero; rows (R, K)."""
    for i in np.flatnonzero(weights):
        out += weights[i] * rows[i]


@jitable
def following(weights: FloatArray, i: int) -> int:
    """The first index from ``i`` on whose weight is not zero, or the length."""
    while i < weights.size and weights[i] == 0.0:
        i += 1
    return i


def _add_rows(out: FloatArray, weights: FloatArray, rows: FloatArray) -> None:
    size, i = out.size, following(weights, 0)
    while i < weights.size:
        j = following(weights, i + 1)
        k = following(weights, j + 1)
        m = following(weights, k + 1)
        if m < weights.size:  # four rows in one pass over out
            a, b, c, d = weights[i], weights[j], weights[k], weights[m]
            first, second, third, fourth = rows[i], rows[j], rows[k], rows[m]
            for x in range(size):
                out[x] = (((out[x] + a * first[x]) + b * second[x]) + c * third[x]) + d * fourth[x]
            i = following(weights, m + 1)
        else:
            a, first = weights[i], rows[i]
            for x in range(size):
                out[x] += a * first[x]
            i = j


def next_update(W: FloatArray, p: int, S: FloatArray, i: int, noise: float) -> None:
    """``W[p]`` = c / sqrt(c_i + ``noise``), c = S[i] less the p updates of W (R, K) that S (K, K) still lacks."""
    w = W[p]
    w[:] = S[i]
    for a in range(p):
        w -= W[a, i] * W[a]
    w *= 1.0 / math.sqrt(w[i] + noise)


def _next_update(W: FloatArray, p: int, S: FloatArray, i: int, noise: float) -> None:
    w, row = W[p], S[i]
    for k in range(w.size):
        w[k] = row[k]
    for a in range(p):
        v = W[a]
        x = v[i]
        for k in range(w.size):
            w[k] -= x * v[k]
    factor = 1.0 / math.sqrt(w[i] + noise)
    for k in range(w.size):
        w[k] *= factor


def downdate(S: FloatArray, W: FloatArray, p: int) -> None:
    """S -= w w^T for the first ``p`` rows w of W (R, K); S (K, K) stays exactly symmetric."""
    for w in W[:p]:
        S -= w[:, None] * w


def _downdate(S: FloatArray, W: FloatArray, p: int) -> None:
    size = S.shape[0]
    for j in range(size):
        row, a = S[j], 0
        while a + 2 <= p:  # two updates in one pass over the row
            v, w = W[a], W[a + 1]
            x, y = v[j], w[j]
            if x != 0.0 or y != 0.0:
                for k in range(size):
                    row[k] = (row[k] - x * v[k]) - y * w[k]
            a += 2
        if a < p:
            v = W[a]
            x = v[j]
            if x != 0.0:
                for k in range(size):
                    row[k] -= x * v[k]


def take_updates(out: FloatArray, x: FloatArray, W: FloatArray, p: int) -> None:
    """``out`` -= W^T W x for the first ``p`` rows of W (R, K); x and out (K,)."""
    for w in W[:p]:
        out -= np.cumsum(w * x)[-1] * w  # added in order, as the loop does


def _take_updates(out: FloatArray, x: FloatArray, W: FloatArray, p: int) -> None:
    for a in range(p):
        w, total = W[a], 0.0
        for k in range(x.size):
            total += w[k] * x[k]
        for k in range(x.size):
            out[k] -= total * w[k]


def shift(out: FloatArray, mean: FloatArray, scale: float) -> None:
    """``out`` = mean + scale out, (K,)."""
    out[:] = mean + scale * out


def _shift(out: FloatArray, mean: FloatArray, scale: float) -> None:
    for i in range(out.size):
        out[i] = mean[i] + scale * out[i]


def residuals(e: FloatArray, s: FloatArray, n: FloatArray, f: FloatArray, v: float) -> None:
    """``e`` = (s - n f) / v, (K,)."""
    e[:] = (s - n * f) * (1.0 / v)


def _residuals(e: FloatArray, s: FloatArray, n: FloatArray, f: FloatArray, v: float) -> None:
    factor = 1.0 / v
    for i in range(e.size):
        e[i] = (s[i] - n[i] * f[i]) * factor


def noisy_residuals(
    e: FloatArray, s: FloatArray, n: FloatArray, root: FloatArray, f: FloatArray, v: float, rng: np.random.Generator
) -> None:
    """``e`` = (s - n f - sqrt(n v) z) / v with z standard normal where n > 0; ``root`` is sqrt(n); all (K,)."""
    e[:] = 0.0
    tried = np.flatnonzero(n)
    z = rng.standard_normal(len(tried))
    e[tried] = ((s[tried] - n[tried] * f[tried]) - (math.sqrt(v) * root[tried]) * z) * (1.0 / v)


def _noisy_residuals(
    e: FloatArray, s: FloatArray, n: FloatArray, root: FloatArray, f: FloatArray, v: float, rng: np.random.Generator
) -> None:
    factor, spread = 1.0 / v, math.sqrt(v)
    for i in range(e.size):
        if n[i] != 0.0:
            e[i] = ((s[i] - n[i] * f[i]) - (spread * root[i]) * rng.standard_normal()) * factor
        else:
            e[i] = 0.0


def variances(out: FloatArray, S: FloatArray, W: FloatArray, p: int) -> None:
    """``out`` (K,) = the diagonal of S - W^T W, W's first ``p`` rows (R, K); S (K, K)."""
    out[:] = np.diag(S)
    for w in W[:p]:
        out -= w * w


def _variances(out: FloatArray, S: FloatArray, W: FloatArray, p: int) -> None:
    for i in range(out.size):
        out[i] = S[i, i]
    for a in range(p):
        w = W[a]
        for i in range(out.size):
            out[i] -= w[i] * w[i]


def add_deviations(out: FloatArray, scale: float, variance: FloatArray) -> None:
    """``out`` += scale sqrt(variance), (K,); a variance that rounding took below 0 counts as 0."""
    out += scale * np.sqrt(np.maximum(variance, 0.0))


def _add_deviations(out: FloatArray, scale: float, variance: FloatArray) -> None:
    for i in range(out.size):
        if variance[i] > 0.0:
            out[i] += scale * math.sqrt(variance[i])


def copy_into(out: FloatArray, source: FloatArray) -> None:
    """``out`` = ``source``, (K,)."""
    out[:] = source


def _copy_into(out: FloatArray, source: FloatArray) -> None:
    for i in range(out.size):
        out[i] = source[i]


def largest(values: FloatArray) -> int:
    """The first index of the largest of ``values`` (K,)."""
    return int(np.argmax(values))


def _largest(values: FloatArray) -> int:
    top = 0
    for i in range(1, values.size):
        if values[i] > values[top]:
            top = i
    return top


def apply_roots(roots: FloatArray, sizes: NDArray[np.int64], z: FloatArray) -> None:
    """Z (K,) <- (L_1 x ... x L_A) z in place, x the Kronecker product of lower triangular factors.

    Args:
        roots: transposed factors, (A, L, L), of which the first ``sizes[a]`` rows and columns count.
        sizes: (A,), product K.
        z: row-major over the axes.
    """
    after = z.size
    for axis, size in enumerate(sizes):
        after //= size
        block = z.reshape(-1, size, after)
        for j in range(size - 1, -1, -1):
            column = roots[axis, j]
            block[:, j + 1 :, :] += column[j + 1 : size, None] * block[:, j : j + 1, :]
            block[:, j, :] *= column[j]


def _apply_roots(roots: FloatArray, sizes: NDArray[np.int64], z: FloatArray) -> None:
    after = z.size
    for axis in range(sizes.size):
        size = sizes[axis]
        after //= size
        for start in range(0, z.size, size * after):
            for j in range(size - 1, -1, -1):
                column = roots[axis, j]
                if after == 1:  # the inner loop over i, so that it vectorises
                    w, tail = z[start + j], z[start : start + size]
                    for i in range(j + 1, size):
                        tail[i] += column[i] * w
                    z[start + j] = w * column[j]
                else:
                    here = start + j * after
                    for i in range(j + 1, size):
                        there = start + i * after
                        for k in range(after):
                            z[there + k] += column[i] * z[here + k]
                    for k in range(after):
                        z[here + k] *= column[j]


def _register(function: Callable[..., Any], loops: Callable[..., Any]) -> None:
    """Compiled callers of ``function`` get ``loops``, which has the same arguments."""
    overload(function, strict=False, jit_options=ONE_COPY)(lambda *args: loops)


_register(fill_normal, _fill_normal)
_register(add_rows, _add_rows)
_register(next_update, _next_update)
_register(downdate, _downdate)
_register(take_updates, _take_updates)
_register(shift, _shift)
_register(residuals, _residuals)
_register(noisy_residuals, _noisy_residuals)
_register(variances, _variances)
_register(add_deviations, _add_deviations)
_register(copy_into, _copy_into)
_register(largest, _largest)
_register(apply_roots, _apply_roots)
