"""What a study states comes true about as often as it says, for people who answer as the model thinks."""

from __future__ import annotations

import pytest
from calibration import deciles, grouped, study, summary


@pytest.mark.slow
def test_stated_chances_to_win_come_true() -> None:
    rows = [row for index in range(24) for row in study("plain", index, 0)]
    groups = grouped([row for row in rows if row["model"] == "stated"])
    found = {r["what"]: r for r in summary(groups, deciles(groups)) if r["problem"] == r["answers"] == "all"}
    assert found["win"]["largest"] < 0.05  # of every tenth of the stated chances
    assert found["best"]["mean"] < 0.05 and found["best"]["largest"] < 0.2  # few cases are in the highest tenths
