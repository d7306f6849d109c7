import numpy as np
import pytest

from prefopt.domain import Grid
from prefopt.errors import SettingError
from prefopt.models.kernels import NAMES, kernel_matrix, make_kernel


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("scales", [(0.2, 1.0), ([0.15, 0.7], 2.5)])
def test_a_named_kernel_is_gpytorchs(name, scales):
    points = Grid.regular(12, 9).points
    closed = kernel_matrix(name, points, *scales)
    assert np.abs(closed - kernel_matrix(make_kernel(name, *scales), points)).max() < 1e-12
    assert np.array_equal(closed, closed.T)
    assert np.array_equal(np.diag(closed), np.full(len(points), scales[1]))


@pytest.mark.parametrize(
    ("kernel", "lengthscale", "outputscale", "message"),
    [
        ("cubic", 0.2, 1.0, "unknown kernel 'cubic'; expected one of rbf"),
        ("rbf", -0.2, 1.0, "positive numbers, got lengthscale=-0.2"),
        ("rbf", 0.2, float("nan"), "positive numbers"),
        ("rbf", [0.2, 0.2, 0.2], 1.0, "expected one lengthscale or 2, one a column of the domain, got 3"),
        (3, 0.2, 1.0, "or a gpytorch Kernel, got 3"),
    ],
)
def test_unfit_kernels(kernel, lengthscale, outputscale, message):
    with pytest.raises(SettingError, match=message):
        kernel_matrix(kernel, Grid.regular(3, 3).points, lengthscale, outputscale)
