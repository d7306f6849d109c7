"""What the two peers with BoTorch's PairwiseGP share, as in BoTorch's tutorial ``preference_bo``."""

import warnings

import numpy as np
import torch
from botorch.acquisition.analytic import PosteriorMean
from botorch.fit import fit_gpytorch_mll
from botorch.models.pairwise_gp import PairwiseGP, PairwiseLaplaceMarginalLogLikelihood
from botorch.models.transforms.input import Normalize
from botorch.optim import optimize_acqf

warnings.filterwarnings("ignore")  # as the tutorial does
torch.set_num_threads(1)
NUM_RESTARTS, RAW_SAMPLES = 3, 512


class PairwisePlayer:
    """Keeps points and comparisons; the model is fitted anew, at most once per answer."""

    def __init__(self, dim, budget, seed):
        torch.manual_seed(seed)
        np.random.seed(seed)
        self.dim = dim
        self.bounds = torch.stack([torch.zeros(dim), torch.ones(dim)]).double()
        self.X = torch.zeros(0, dim, dtype=torch.float64)
        self.comparisons = torch.zeros(0, 2, dtype=torch.long)
        self.shown = None
        self.fitted = (0, None)

    def random_pair(self):
        """Two uniform points."""
        return torch.rand(2, self.dim, dtype=torch.float64)

    def tell(self, winner):
        """Append the pair and who won."""
        n = len(self.X)
        self.comparisons = torch.cat([self.comparisons, torch.tensor([[n + winner, n + 1 - winner]])])
        self.X = torch.cat([self.X, self.shown])

    def feed(self, pairs, winners):
        """Learn answers to questions that it did not ask; they take the place of the random first pairs."""
        for pair, winner in zip(pairs, winners, strict=True):
            self.shown = torch.tensor(pair, dtype=torch.float64)
            self.tell(winner)

    @property
    def model(self):
        """The model fitted to all answers."""
        answers, model = self.fitted
        if answers != len(self.comparisons):
            model = PairwiseGP(self.X, self.comparisons, input_transform=Normalize(d=self.dim))
            fit_gpytorch_mll(PairwiseLaplaceMarginalLogLikelihood(model.likelihood, model))
            self.fitted = (len(self.comparisons), model)
        return model

    def optimise(self, acquisition, q):
        """The best q points (q, d)."""
        found, _ = optimize_acqf(
            acq_function=acquisition, bounds=self.bounds, q=q, num_restarts=NUM_RESTARTS, raw_samples=RAW_SAMPLES
        )
        return found.detach()

    def recommend(self):
        """Where the posterior mean is largest."""
        return self.optimise(PosteriorMean(self.model), 1)[0]
