"""Every policy by name. The table is literal and imports nothing, so that listing it costs nothing."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from prefopt.errors import SettingError, did_you_mean

__all__ = ["POLICIES", "Entry", "make_policy", "resolve_settings"]


@dataclass(frozen=True)
class Entry:
    """What is known of a policy before it is imported.

    Attributes:
        module: below ``prefopt.policies``.
        cls: name of the class (or function that makes it) in the module; or the class itself, with module "", which is
            how a policy of your own gets a name: ``POLICIES["mine"] = Entry("", Mine, "weak", "nothing", "ours")``.
        regret: the regret it aims at, a name in ``prefopt.regret.REGRETS``, or "".
        assumes: what must hold for its guarantee: "total order", "Condorcet", "Copeland", "utility", ...
        source: author, year, where.
        domains: kinds of domain it takes: "arms" (options are only indices), "grid", "box".
        slates: "2", "any", or "varies".
        needs_horizon: whether the number of rounds must be told, unless settings make it needless. This is for
            lists; the policy itself refuses to start without.
        presets: named settings.
        takes_feedback: whether it has a setting ``feedback`` that says what kind of answer will come.
        proposes: of a policy that shows telling options rather than good ones, the name of the one to take instead
            where only options that were made can be recommended; "" where it need not be another.
    """

    module: str
    cls: str | Callable[..., Any]
    regret: str
    assumes: str
    source: str
    domains: tuple[str, ...] = ("arms",)
    slates: str = "2"
    needs_horizon: bool = False
    presets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    takes_feedback: bool = False
    proposes: str = ""

    def load(self) -> Any:
        """The class itself; this is what imports."""
        if not isinstance(self.cls, str):
            return self.cls
        return getattr(import_module(f"prefopt.policies.{self.module}"), self.cls)


POLICIES: dict[str, Entry] = {
    "random": Entry("random", "Random", "", "nothing", "null baseline", domains=("arms", "box"), slates="any"),
    "if1": Entry(
        "arms.interleaved_filter", "if1", "strong-sum", "total order", "Yue et al. 2012, IF1", needs_horizon=True
    ),
    "if2": Entry(
        "arms.interleaved_filter", "if2", "strong-sum", "total order", "Yue et al. 2012, IF2", needs_horizon=True
    ),
    "beat-the-mean": Entry(
        "arms.beat_the_mean",
        "BeatTheMean",
        "strong-sum",
        "total order",
        "Yue & Joachims 2011, Algorithm 1",
        needs_horizon=True,
    ),
    "savage": Entry(
        "arms.savage", "SAVAGE", "strong-sum", "Condorcet", "Urvoy et al. 2013, Algorithm 1", needs_horizon=True
    ),
    "rucb": Entry("arms.rucb", "RUCB", "strong-sum", "Condorcet", "Zoghi et al. 2014 (ICML), Algorithm 1"),
    "rcs": Entry("arms.rcs", "RCS", "strong-sum", "Condorcet", "Zoghi et al. 2014 (WSDM), Algorithm 1"),
    "merge-rucb": Entry(
        "arms.merge_rucb",
        "MergeRUCB",
        "strong-sum",
        "Condorcet, few ties",
        "Zoghi et al. 2015 (WSDM), Algorithm 1",
        presets={"zoghi2015": {"alpha": 1.01, "C": None}, "li2020": {"alpha": 0.262144, "C": 4e5, "p": 8}},
    ),
    "rmed1": Entry("arms.rmed", "RMED1", "strong-sum", "Condorcet", "Komiyama et al. 2015, Algorithms 1 and 2"),
    "rmed2": Entry("arms.rmed2", "RMED2", "strong-sum", "Condorcet", "Komiyama et al. 2015, Algorithms 1 and 3"),
    "rmed2f": Entry(
        "arms.rmed2",
        "rmed2f",
        "strong-sum",
        "Condorcet",
        "Komiyama et al. 2015, Algorithms 1 and 3",
        needs_horizon=True,
    ),
    "d-ts": Entry(
        "arms.double_thompson_sampling",
        "DoubleThompsonSampling",
        "copeland",
        "Copeland",
        "Wu & Liu 2016, Algorithm 1",
        presets={"sui2017": {"eta": 2.5}},
    ),
    "d-ts-plus": Entry(
        "arms.double_thompson_sampling_plus",
        "DoubleThompsonSamplingPlus",
        "copeland",
        "Copeland",
        "Wu & Liu 2016, D-TS+",
        presets={"sui2017": {"eta": 2.5}},
    ),
    "ccb": Entry("arms.ccb", "CCB", "copeland", "Copeland", "Zoghi et al. 2015 (NeurIPS), Algorithm 1"),
    "scb": Entry(
        "arms.scb",
        "SCB",
        "copeland",
        "Copeland",
        "Zoghi et al. 2015 (NeurIPS), Algorithms 2 to 4",
        presets={"wu2016": {"first": 1000.0}},
    ),
    "ecw-rmed": Entry("arms.ecw_rmed", "ECWRMED", "copeland", "Copeland", "Komiyama et al. 2016 (ICML), Algorithm 1"),
    "ws-w": Entry("arms.winner_stays", "ws_w", "weak", "Condorcet", "Chen & Frazier 2017, Algorithm 1"),
    "ws-s": Entry("arms.winner_stays", "ws_s", "strong-sum", "Condorcet", "Chen & Frazier 2017, Algorithm 2"),
    "btw": Entry("arms.beat_the_winner", "btw", "weak", "Condorcet", "Pekoz et al. 2022"),
    "mbtw": Entry("arms.beat_the_winner", "mbtw", "weak", "Condorcet", "Pekoz et al. 2022"),
    "sparring-ucb1": Entry("arms.sparring", "sparring_ucb1", "strong-sum", "utility", "Ailon et al. 2014, Algorithm 3"),
    "sparring-exp3": Entry(
        "arms.sparring",
        "sparring_exp3",
        "strong-sum",
        "utility",
        "Ailon et al. 2014, Algorithm 3",
        needs_horizon=True,
        presets={"anytime": {"anytime": True}},
    ),
    "sparring-ts": Entry(
        "arms.sparring", "sparring_ts", "strong-sum", "utility", "Ailon et al. 2014; Sui et al. 2017, Algorithm 1"
    ),
    "multi-sparring": Entry(
        "arms.sparring",
        "MultiSparring",
        "strong-sum",
        "utility",
        "Sui et al. 2017, Algorithms 1 and 2",
        slates="any",
        presets={"ts": {"bandit": "ts"}, "exp3": {"bandit": "exp3"}},
    ),
    "multi-sbm": Entry("arms.multi_sbm", "MultiSBM", "strong-sum", "utility", "Ailon et al. 2014, Algorithm 2"),
    "rex3": Entry(
        "arms.rex3",
        "REX3",
        "strong-sum",
        "utility",
        "Gajane et al. 2015, Algorithm 1",
        needs_horizon=True,
        presets={"anytime": {"anytime": True}},
    ),
    "mdb": Entry("arms.mdb", "MDB", "strong-mean", "Condorcet", "Brost et al. 2016, Algorithm 1", slates="varies"),
    "multi-rucb": Entry(
        "arms.multi_rucb", "MultiRUCB", "strong-mean", "Condorcet", "Du et al. 2021, Algorithm 2", slates="varies"
    ),
    "versatile-db": Entry(
        "arms.versatile_db", "VersatileDB", "strong-sum", "Condorcet", "Saha & Gaillard 2022, Algorithm 1"
    ),
    "merge-dts": Entry(
        "arms.merge_dts",
        "MergeDTS",
        "strong-sum",
        "Condorcet, few ties",
        "Li et al. 2020, Algorithm 1",
        presets={"theory": {"alpha": 1.01, "p": 4}},
    ),
    "qsa": Entry("arms.qsa", "QSA", "weak", "utility", "Jamieson & Nowak 2011, Figure 2", domains=("arms", "grid")),
    "ind-self-sparring": Entry(
        "arms.ind_self_sparring",
        "IndSelfSparring",
        "strong-sum",
        "total order, approximate linearity",
        "Sui et al. 2017, Algorithm 3",
        slates="any",
        presets={"sui2017": {"eta": 3.5}},
    ),
    "kernel-self-sparring": Entry(
        "kernel.self_sparring",
        "KernelSelfSparring",
        # Two distinct options, the default, always put another one beside the best; preset "paper" aims at strong-sum.
        "weak",
        "similar options are similarly good",
        "Sui et al. 2017, Algorithm 4",
        domains=("arms", "grid", "box"),
        slates="any",
        presets={"paper": {"noise": 0.025, "distinct": False, "self_duel": "coin"}},
        takes_feedback=True,
    ),
    # The kernelised baselines of Sui et al. 2017.
    "gp-sparring": Entry(
        "kernel.gp_sparring",
        "GPSparring",
        "strong-sum",
        "similar options are similarly good",
        "Sui et al. 2017, section 5; Srinivas et al. 2010, Algorithm 1",
        domains=("arms", "grid", "box"),
        slates="any",
        presets={"sui2017": {"noise": 0.025}},
        takes_feedback=True,
    ),
    "bopper": Entry(
        "kernel.bopper",
        "BOPPER",
        "",
        "similar duels have similar outcomes",
        "Gonzalez et al. 2017; Sui et al. 2017, section 5",
        domains=("grid", "box"),
        presets={"sui2017": {"kernel": "se", "lengthscale": 1.0, "outputscale": 1.0, "mirror": False}},
    ),
    "eubo": Entry(
        "kernel.eubo", "EUBO", "weak", "a smooth utility", "Lin et al. 2022, equation 4", domains=("grid", "box")
    ),
    "utility-thompson": Entry(
        "kernel.utility_thompson",
        "UtilityThompson",
        "weak",
        "a smooth utility",
        "Sui et al. 2017, Algorithm 2; Tucker et al. 2020",
        domains=("grid", "box"),
        slates="any",
        presets={"sparring": {"distinct": False}},
    ),
    "max-min-lcb": Entry(
        "kernel.max_min_lcb",
        "MaxMinLCB",
        "weak",
        "a smooth utility",
        "Pasztor et al. 2024, Algorithm 1",
        domains=("grid", "box"),
        presets={"regret": {"beta": 1.0, "distinct": False}},
    ),
    "dueling-ucb": Entry(
        "kernel.dueling_ucb", "DuelingUCB", "weak", "a smooth utility", "Benavoli et al. 2021", domains=("grid", "box")
    ),
    "muc": Entry(
        "kernel.muc",
        "MUC",
        "weak",
        "a smooth utility",
        "Fauvel & Chalk 2021",
        domains=("grid", "box"),
        slates="any",
    ),
    "hallucination-believer": Entry(
        "kernel.hallucination_believer",
        "HallucinationBeliever",
        "weak",
        "a smooth utility",
        "Takeno et al. 2023, Algorithm 1",
        domains=("grid", "box"),
        slates="any",
        presets={"ucb": {"acquisition": "ucb"}, "takeno2023": {"link": "probit", "sweeps": 1000}},
    ),
    "line-cospar": Entry(
        "kernel.line_cospar",
        "LineCoSpar",
        "weak",
        "a smooth utility",
        "Tucker et al. 2020, Algorithm 1",
        domains=("grid", "box"),
        slates="any",
        presets={"tucker2020": {"buffer": 1, "distinct": False}},
    ),
    "knowledge-gradient": Entry(
        "kernel.knowledge_gradient",
        "KnowledgeGradient",
        "weak",
        "a smooth utility",
        "Frazier et al. 2009; Wu & Gardner 2026",
        domains=("grid", "box"),
        slates="any",
        proposes="qeubo",
    ),
    "borda-gp": Entry(
        "kernel.borda_gp",
        "BordaGP",
        "weak",
        "similar options are similarly good",
        "Xu et al. 2020; Mehta et al. 2023",
        domains=("arms", "grid", "box"),
        slates="any",
        presets={"ucb": {"acquisition": "ucb"}},
    ),
    "brochu-ei": Entry(
        "kernel.brochu_ei", "BrochuEI", "weak", "a smooth utility", "Brochu et al. 2007", domains=("grid", "box")
    ),
    "sobol": Entry(
        "kernel.sobol", "Sobol", "", "a smooth utility", "null baseline", domains=("grid", "box"), slates="any"
    ),
    "qeubo": Entry(
        "kernel.qeubo",
        "QEUBO",
        "weak",
        "a smooth utility",
        "Astudillo et al. 2023, section 4",
        domains=("grid", "box"),
        slates="any",
    ),
}


def get_entry(name: str) -> Entry:
    """The entry called ``name``; raises SettingError with the most similar name."""
    if not isinstance(name, str):
        raise SettingError(
            f"expected the name of a policy, got {name!r}; a class of your own gets one by an Entry: "
            "prefopt.policies.POLICIES['mine'] = Entry('', TheClass, 'weak', 'what it assumes', 'source')"
        )
    if name not in POLICIES:
        hint = did_you_mean(name, POLICIES)
        raise SettingError(f"unknown policy {name!r}; expected one of `prefopt list policies`{hint}")
    return POLICIES[name]


def resolve_settings(name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """``settings`` with a ``preset`` among them replaced by what it stands for (explicit settings win).

    Raises:
        SettingError: no such preset, or no dict.
    """
    if not isinstance(settings, Mapping):
        raise SettingError(f"settings must be a dict such as {{'preset': 'default'}}, got {settings!r}")
    rest = dict(settings)
    preset = rest.pop("preset", None)
    if preset in (None, "default"):
        return rest
    presets = get_entry(name).presets
    if not isinstance(preset, str) or preset not in presets:
        raise SettingError(f"{name} has no preset {preset!r}; expected one of {', '.join(['default', *presets])}")
    return {**presets[preset], **rest}


def make_policy(name: str, domain: Any, /, **settings: Any) -> Any:
    """The policy called ``name`` on ``domain``.

    Args:
        name: a key of ``POLICIES``.
        domain: ``Arms``, ``Grid`` or ``Box``.
        settings: ``slate_size``, ``horizon``, hyper-parameters, or ``preset="..."``.

    Raises:
        SettingError: unknown name, preset or setting, or one out of range.
    """
    entry = get_entry(name)
    resolved = resolve_settings(name, settings)
    try:
        return entry.load()(domain, **resolved)
    except (SettingError, TypeError) as error:
        if isinstance(error, TypeError) and (unknown := _unknown_setting(entry, domain, resolved)):
            raise SettingError(f"{name} has no setting {unknown}") from error
        kind = type(error) if isinstance(error, SettingError) else SettingError
        raise kind(str(error) if name in str(error) else f"{name}: {error}") from error


def _unknown_setting(entry: Entry, domain: Any, settings: Mapping[str, Any]) -> str:
    """The first of ``settings`` that the policy does not have, the nearest it has, and all it has; "" if none."""
    make = entry.load()
    usual = {key: value for key, value in settings.items() if key in ("slate_size", "horizon")}
    named = [p.name for p in inspect.signature(make).parameters.values() if p.kind is not p.VAR_KEYWORD][1:]
    known = list(dict.fromkeys([*named, *make(domain, **usual).settings]))
    for key in settings:
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            return f"{key!r}{f' (did you mean {near[0]!r}?)' if near else ''}; it has {', '.join(known)}"
    return ""
