"""Simulated people: by name, from utilities, from a preference matrix, from rankers."""

from prefopt.environments.base import Environment, FiniteEnvironment
from prefopt.environments.box import BoxEnvironment, calibrated_scale
from prefopt.environments.candy import load_candy
from prefopt.environments.files import matrix_environment
from prefopt.environments.letor import read_letor
from prefopt.environments.named import grid_environment, list_environments, make_environment
from prefopt.environments.person import Person, utility_environment
from prefopt.environments.ranker_environment import RankerEnvironment, ranker_environment
from prefopt.environments.rankers import preference_matrix
from prefopt.environments.subsets import condorcet_subset, subset_environment

__all__ = [
    "BoxEnvironment",
    "Environment",
    "FiniteEnvironment",
    "Person",
    "RankerEnvironment",
    "calibrated_scale",
    "condorcet_subset",
    "grid_environment",
    "list_environments",
    "load_candy",
    "make_environment",
    "matrix_environment",
    "preference_matrix",
    "ranker_environment",
    "read_letor",
    "subset_environment",
    "utility_environment",
]
