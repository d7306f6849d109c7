import pytest

from prefopt.domain import Arms
from prefopt.environments import make_environment
from prefopt.policies import POLICIES, get_entry, make_policy
from prefopt.simulation.driver import Loop, compiled_loop
from prefopt.testing import check_policy


@pytest.mark.parametrize("name", [n for n in POLICIES if "arms" in get_entry(n).domains])
def test_policy_conforms(name):
    check_policy(name)
    policy = make_policy(name, Arms(6), horizon=10)
    if hasattr(policy, "rules") and name != "kernel-self-sparring":
        # compiled by the check, and without the reference counts that make a short rule slow
        loop = compiled_loop(policy.rules, make_environment("arith-linear-6").world)
        assert isinstance(loop, Loop) and not loop.allocates
