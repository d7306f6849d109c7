"""BoTorch: PairwiseGP and analytic EUBO, as in its preference tutorial; four random pairs first."""

from _pairwise_gp import PairwisePlayer
from _serve import serve
from botorch.acquisition.preference import AnalyticExpectedUtilityOfBestOption

RANDOM_PAIRS = 4


class Eubo(PairwisePlayer):
    """Shows the pair with the largest expected utility of its better one."""

    def ask(self):
        """The next pair."""
        if len(self.comparisons) < RANDOM_PAIRS:
            self.shown = self.random_pair()
        else:
            self.shown = self.optimise(AnalyticExpectedUtilityOfBestOption(pref_model=self.model), 2)
        return self.shown


if __name__ == "__main__":
    serve(Eubo)
