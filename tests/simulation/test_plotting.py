import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")
from prefopt.plotting import plot_regret, save_figure
from prefopt.regret import REGRETS
from prefopt.simulation import simulate


def test_a_plot_states_the_regret_and_has_a_curve_each(tmp_path):
    results = [simulate(p, "arith-linear-6", rounds=50, regret="weak") for p in ("random", "ind-self-sparring")]
    ax = plot_regret(results)
    assert "weak" in ax.get_ylabel()
    assert [line.get_label() for line in ax.lines] == ["random", "ind-self-sparring"]
    save_figure(ax, tmp_path / "x.png")
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("regret", REGRETS)
def test_every_plot_states_its_regret(regret):
    ax = plot_regret([simulate("random", "sushi16", rounds=20, regret=regret)])
    assert ax.get_ylabel() == f"cumulative regret ({regret})"
    assert REGRETS[regret].text in ax.get_title()
    ax.figure.clear()


@pytest.mark.parametrize(("band", "factor"), [("sd", 1.0), ("se", 2 / np.sqrt(5))])
def test_the_band_is_the_spread(band, factor):
    result = simulate("random", "sushi16", rounds=20, repetitions=5)
    (area,) = plot_regret([result], band=band).collections
    corners = area.get_paths()[0].vertices
    at_end = corners[corners[:, 0] == 20, 1]
    expected = result.mean()[-1] + np.array([-1, 1]) * factor * result.sd()[-1]
    np.testing.assert_allclose([at_end.min(), at_end.max()], expected)
    assert not plot_regret([result], band="").collections
