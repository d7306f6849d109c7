import matplotlib as mpl

mpl.use("Agg")
from prefopt.plotting import plot_regret, save_figure
from prefopt.simulation import simulate


def test_a_plot_states_the_regret_and_has_a_curve_each(tmp_path):
    results = [simulate(p, "arith-linear-6", rounds=50, regret="weak") for p in ("random", "ind-self-sparring")]
    ax = plot_regret(results)
    assert "weak" in ax.get_ylabel()
    assert [line.get_label() for line in ax.lines] == ["random", "ind-self-sparring"]
    save_figure(ax, tmp_path / "x.png")
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")
