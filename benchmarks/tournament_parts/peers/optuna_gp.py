"""Optuna: PreferentialGPSampler of optuna-dashboard; two trials are kept active, so each new one meets the winner."""

import warnings

import numpy as np
import optuna
import torch
from _serve import serve
from optuna_dashboard.preferential import create_study
from optuna_dashboard.preferential.samplers.gp import PreferentialGPSampler

warnings.filterwarnings("ignore")
optuna.logging.set_verbosity(optuna.logging.ERROR)
torch.set_num_threads(1)


class Optuna:
    """A preferential study; the recommendation is its best trial, the last winner."""

    def __init__(self, dim, budget, seed):
        torch.manual_seed(seed)
        np.random.seed(seed)
        self.dim = dim
        self.study = create_study(n_generate=2, sampler=PreferentialGPSampler(seed=seed))
        self.active = []  # (trial, point)

    def ask(self):
        """Make new trials until two are active."""
        while self.study.should_generate():
            trial = self.study.ask()
            point = [trial.suggest_float(f"x{j}", 0.0, 1.0) for j in range(self.dim)]
            self.active.append((trial, point))
        return [point for _, point in self.active]

    def tell(self, winner):
        """Report the preference; the loser is no longer active."""
        better, worse = self.active[winner][0], self.active[1 - winner][0]
        self.study.report_preference(better, worse)
        self.active = [self.active[winner]]

    def recommend(self):
        """The best trial's point."""
        (best,) = self.study.best_trials
        return [best.params[f"x{j}"] for j in range(self.dim)]


if __name__ == "__main__":
    serve(Optuna)
