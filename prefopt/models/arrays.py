"""Array steps of the posterior on a finite set: NumPy rows for a person, plain loops when compiled.

Both forms do the same floating-point operations in the same order, so their results are equal to the last bit.
A compiled caller gets the loops (registered with numba below), a Python caller the NumPy form.
"""

from __future__ import annotations

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
    for i in range(weights.size):
        w = weights[i]
        if w != 0.0:
            row = rows[i]
            for j in range(out.size):
                out[j] += w * row[j]


def downdate(S: FloatArray, c: FloatArray, factor: float) -> None:
    """S -= w w^T with w = ``factor`` c; S (K, K) stays exactly symmetric. ``c`` is overwritten by w."""
    c *= factor
    for i in np.flatnonzero(c):
        S[i] -= c[i] * c


def _downdate(S: FloatArray, c: FloatArray, factor: float) -> None:
    size = c.size
    for j in range(size):
        c[j] *= factor
    for i in range(size):
        w = c[i]
        if w != 0.0:
            row = S[i]
            for j in range(size):
                row[j] -= w * c[j]


def apply_roots(roots: FloatArray, sizes: NDArray[np.int64], z: FloatArray) -> None:
    """z (K,) <- (L_1 x ... x L_A) z in place, x the Kronecker product of lower triangular factors.

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
                    w = z[start + j]
                    for i in range(j + 1, size):
                        z[start + i] += column[i] * w
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
_register(apply_roots, _apply_roots)
