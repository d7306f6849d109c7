import numpy as np
import pytest
from numba.core.errors import NumbaError

from prefopt.simulation.driver import Loop


def doubled(x, out):
    copy = x.copy()
    for i in range(len(x)):
        out[i] = 2 * copy[i]


def in_place(x, out):
    for i in range(len(x)):
        out[i] = 2 * x[i]


@pytest.mark.parametrize(("function", "allocates"), [(doubled, True), (in_place, False)])
def test_a_loop_that_makes_arrays_still_compiles(function, allocates):
    loop, out = Loop(function), np.zeros(3)
    loop(np.arange(3.0), out)
    assert out.tolist() == [0, 2, 4] and loop.allocates is allocates
    loop(np.ones(3), out)
    assert out.tolist() == [2, 2, 2]


def test_a_loop_that_cannot_compile_says_why():
    loop = Loop(lambda x, out: x.no_such_method())
    for _ in range(2):
        with pytest.raises(NumbaError, match="no_such_method"):
            loop(np.zeros(2), np.zeros(2))
