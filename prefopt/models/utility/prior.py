"""What is believed of a utility before any answer: a centre that is probably not far off, and a smooth function.

In the unit cube, z_i = (x_i - centre_i) / width_i over the numeric columns, q(x) the mean of their pulls (z_i^2, linear
beyond |z_i| = 1): the mean is -pull q(x), in logits, and the covariance

    outputscale k(r) + bend^2 q(x) q(x') + (tilt^2 / d) sum_i z_i z'_i

k stationary. The last two terms integrate out how strong the pull is and where it pulls to: answers overrule it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prefopt.domain import FloatArray
from prefopt.models.stationary import Stationary
from prefopt.models.utility.comparisons import Comparisons


@dataclass(frozen=True)
class Trend:
    """The part that is not stationary.

    Attributes:
        numeric: the numeric columns.
        centre: where the best option is expected, of each of them, in the cube.
        width: how far from there the pull reaches one, of each of them.
        pull: how much less a corner is worth than the centre, in logits.
        bend: prior standard deviation of ``pull``.
        tilt: prior standard deviation of a linear drift.
    """

    numeric: tuple[int, ...]
    centre: tuple[float, ...]
    width: tuple[float, ...]
    pull: float = 4.0
    bend: float = 2.0
    tilt: float = 1.0

    def z(self, points: FloatArray) -> FloatArray:
        """Distances from the centre in widths, (n, number of numeric columns)."""
        return np.asarray((points[:, self.numeric] - np.array(self.centre)) / np.array(self.width))

    def away(self, points: FloatArray) -> FloatArray:
        """The pull's shape q at (n, d) ``points``, (n,): 0 at the centre, 1 a width away in every column."""
        z = np.abs(self.z(points))
        return np.asarray(np.where(z <= 1, z * z, 2 * z - 1).sum(axis=1) / max(1, z.shape[1]))

    def mean(self, points: FloatArray) -> FloatArray:
        """Prior mean at (n, d) ``points``, (n,)."""
        return -self.pull * self.away(points)

    def features(self, points: FloatArray) -> FloatArray:
        """psi(x) (n, 1 + number of numeric columns): the covariance of the trend is psi(x) psi(x')^T."""
        z = self.z(points)
        return np.column_stack([self.bend * self.away(points), z * (self.tilt / np.sqrt(max(1, z.shape[1])))])

    def gradient(self, points: FloatArray, drift: FloatArray) -> FloatArray:
        """Slopes of mean + ``drift`` (n, p) times features along the numeric columns at ``points``, (n, e)."""
        z, width = self.z(points), np.array(self.width)
        e = max(1, z.shape[1])
        bowl = np.where(np.abs(z) <= 1, 2 * z, 2 * np.sign(z)) / (e * width)
        return np.asarray(
            (self.bend * drift[:, :1] - self.pull) * bowl + drift[:, 1:] * (self.tilt / np.sqrt(e)) / width
        )


@dataclass(frozen=True)
class Prior:
    """A Gaussian process over utilities: ``trend`` (None: zero mean) and ``kernel``.

    If raters have deviations of their own from this utility, independent ones with ``own`` times the kernel, answers
    are about the sum, and everything else here is about the utility that is shared.
    """

    kernel: Stationary
    trend: Trend | None = None
    own: float = 0.0

    def mean(self, points: FloatArray) -> FloatArray:
        """Prior mean at (n, d) ``points``, (n,)."""
        return self.trend.mean(points) if self.trend else np.zeros(len(points))

    def features(self, points: FloatArray) -> FloatArray:
        """The trend's features, (n, p); none without a trend."""
        return self.trend.features(points) if self.trend else np.zeros((len(points), 0))

    def covariance(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Prior covariance between the rows of a (n, d) and b (q, d), shape (n, q)."""
        made: FloatArray = self.kernel(a, b)
        if self.trend:
            made += self.features(a) @ self.features(b).T
        return made

    def with_differences(self, points: FloatArray, data: Comparisons, known: FloatArray | None = None) -> FloatArray:
        """Prior covariances (q, M) of the ``points`` (q, d) with the differences that ``data`` reads.

        ``known`` (q', M'): the same of the first points and differences, which are not computed again.
        """
        q, M = (0, 0) if known is None else known.shape
        made = np.empty((len(points), len(data)))
        if known is not None:
            made[:q, :M] = known
        if len(data) > M:
            new = np.unique(np.concatenate([data.ahead[M:], data.behind[M:]]))
            columns = self.covariance(points, points[new])
            ahead, behind = (np.searchsorted(new, side[M:]) for side in (data.ahead, data.behind))
            made[:, M:] = columns[:, ahead] - columns[:, behind]
        if q < len(points) and M:
            rows = self.covariance(points[q:], points)
            made[q:, :M] = rows[:, data.ahead[:M]] - rows[:, data.behind[:M]]
        return made

    def variance(self, points: FloatArray) -> FloatArray:
        """Prior variance at (n, d) ``points``, (n,)."""
        psi = self.features(points)
        return np.asarray(self.kernel.outputscale + np.einsum("np,np->n", psi, psi))

    def of_differences(
        self, points: FloatArray, data: Comparisons, matrix: FloatArray | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Prior mean (M,) and covariance (M, M) of the differences that ``data`` reads at ``points`` (q, d).

        ``matrix``: the stationary part at the points (q, q), if it is known already.
        """
        matrix = self.kernel.matrix(points) if matrix is None else matrix
        made = data.differences(data.differences(matrix).T)
        if self.own:
            made *= self.repeated(data)
        psi = data.differences(self.features(points))
        made += psi @ psi.T
        return data.differences(self.mean(points)), made

    def repeated(self, data: Comparisons) -> FloatArray:
        """1 + own [r = s] of any two differences, seen by raters r and s, (M, M): so often the stationary part counts.

        The rater -1 is everybody, without a deviation.
        """
        who = data.rater[data.stage]
        return np.asarray(1 + self.own * ((who[:, None] == who) & (who >= 0)), dtype=np.float64)

    def deviations(self, points: FloatArray, data: Comparisons) -> FloatArray:
        """Prior covariance (M, M) of what the raters' deviations add to the differences at ``points`` (q, d)."""
        return data.differences(data.differences(self.kernel.matrix(points)).T) * (self.repeated(data) - 1)
