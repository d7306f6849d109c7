"""Simulated people: by name, from utilities, from a preference matrix, from rankers."""

from prefopt.environments.base import Environment, FiniteEnvironment
from prefopt.environments.box import BoxEnvironment, calibrated_scale
from prefopt.environments.candy import load_candy
from prefopt.environments.files import matrix_environment
from prefopt.environments.named import grid_environment, list_environments, make_environment
from prefopt.environments.person import Person, utility_environment

__all__ = [
    "BoxEnvironment",
    "Environment",
    "FiniteEnvironment",
    "Person",
    "calibrated_scale",
    "grid_environment",
    "list_environments",
    "load_candy",
    "make_environment",
    "matrix_environment",
    "utility_environment",
]
