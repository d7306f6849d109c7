"""Random pairs, and BoTorch's PairwiseGP only to recommend."""

from _pairwise_gp import PairwisePlayer
from _serve import serve


class RandomPairs(PairwisePlayer):
    """Shows uniform points."""

    def ask(self):
        """The next pair."""
        self.shown = self.random_pair()
        return self.shown


if __name__ == "__main__":
    serve(RandomPairs)
