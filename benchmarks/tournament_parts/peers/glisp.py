"""GLISp (Bemporad and Piga 2021) from the package glis, with its defaults; a new point meets the best so far."""

import warnings

import numpy as np
from _serve import serve
from glis.solvers import GLISp

warnings.filterwarnings("ignore")


class Glisp:
    """Asks step by step; the recommendation is its xbest, the last winner."""

    def __init__(self, dim, budget, seed):
        np.random.seed(seed)
        # what GLISp.solve would set, from which it plans its recalibrations
        self.solver = GLISp(bounds=(np.zeros(dim), np.ones(dim)), expected_max_evals=budget + 1, display=0)
        self.best, self.new = self.solver.initialize()

    def ask(self):
        """The new point and the best one."""
        return [self.new, self.best]

    def tell(self, winner):
        """-1 says that the new point is better."""
        self.new = self.solver.update(-1 if winner == 0 else 1)
        self.best = self.solver.xbest

    def recommend(self):
        """The best point so far."""
        return self.best


if __name__ == "__main__":
    serve(Glisp)
