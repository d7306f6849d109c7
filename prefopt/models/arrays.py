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

FloatArray = NDArray[np.float64]


def fill_normal(out: FloatArray, rng: np.random.Generator) -> None:
    """Standard normals into ``out`` (K,)."""
    rng.standard_normal(out=out)


def _fill_normal(out: FloatArray, rng: np.random.Generator) -> None:
    for i in range(out.size):
        out[i] = rng.standard_normal()


def add_rows(out: FloatArray, weights: FloatArray, rows: FloatArray) -> None:
    """``out`` += sum of ``weights[i] * rows[i]`` over the weights (K,) that are not zero; rows (K, K)."""
    for i in np.flatnonzero(weights):
        out += weights[i] * rows[i]


def _add_rows(out: FloatArray, weights: FloatArray, rows: FloatArray) -> None:
    size, i = out.size, 0
    while i + 4 <= size:  # four rows in one pass over out; zero weights add zeros
        a, b, c, d = weights[i], weights[i + 1], weights[i + 2], weights[i + 3]
        if a != 0.0 or b != 0.0 or c != 0.0 or d != 0.0:
            for j in range(size):
                out[j] = (((out[j] + a * rows[i, j]) + b * rows[i + 1, j]) + c * rows[i + 2, j]) + d * rows[i + 3, j]
        i += 4
    while i < size:
        for j in range(size):
            out[j] += weights[i] * rows[i, j]
        i += 1


def downdate(S: FloatArray, i: int, w: FloatArray, factor: float) -> None:
    """S -= w w^T with w = ``factor`` S[i]; S (K, K) stays exactly symmetric. ``w`` (K,) is working space."""
    w[:] = S[i]
    w *= factor
    for j in np.flatnonzero(w):
        S[j] -= w[j] * w


def _downdate(S: FloatArray, i: int, w: FloatArray, factor: float) -> None:
    size = w.size
    for j in range(size):
        w[j] = S[i, j] * factor
    for j in range(size):
        a = w[j]
        if a != 0.0:
            for k in range(size):
                S[j, k] -= a * w[k]


def shift(out: FloatArray, mean: FloatArray, scale: float) -> None:
    """``out`` = mean + scale out, (K,)."""
    out[:] = mean + scale * out


def _shift(out: FloatArray, mean: FloatArray, scale: float) -> None:
    for i in range(out.size):
        out[i] = mean[i] + scale * out[i]


def residuals(e: FloatArray, s: FloatArray, n: FloatArray, f: FloatArray, v: float, factor: float) -> None:
    """``e`` = (s - n f - factor sqrt(n v) e) / v, (K,)."""
    e[:] = (s - n * f - factor * np.sqrt(n * v) * e) / v


def _residuals(e: FloatArray, s: FloatArray, n: FloatArray, f: FloatArray, v: float, factor: float) -> None:
    for i in range(e.size):
        e[i] = (s[i] - n[i] * f[i] - factor * math.sqrt(n[i] * v) * e[i]) / v


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
    overload(function, strict=False)(lambda *args: loops)


_register(fill_normal, _fill_normal)
_register(add_rows, _add_rows)
_register(downdate, _downdate)
_register(shift, _shift)
_register(residuals, _residuals)
_register(copy_into, _copy_into)
_register(largest, _largest)
_register(apply_roots, _apply_roots)
