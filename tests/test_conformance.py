import pytest

from prefopt.policies import POLICIES, get_entry
from prefopt.testing import check_policy


@pytest.mark.parametrize("name", [n for n in POLICIES if "arms" in get_entry(n).domains])
def test_policy_conforms(name):
    check_policy(name)
