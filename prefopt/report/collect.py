"""Everything that a report says, as one JSON-able dict; the page and the table are made of it."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from prefopt.domain import Arms, Box
from prefopt.errors import DomainError
from prefopt.models.utility.raters import distinguishable
from prefopt.report.belief import CREDIBLE, Belief, Options, said_of, smallest_set
from prefopt.report.heldout import held_out
from prefopt.report.words import params_text
from prefopt.study.consistency import Diagnostics
from prefopt.study.study import Study

#: Whose versions a report states.
LIBRARIES = ("prefopt-bo", "numpy", "scipy", "torch", "gpytorch", "botorch", "numba", "SQLAlchemy")
#: Points of a slice of the posterior.
SLICE = 41
#: Options of a credible set that are listed.
LISTED = 12


def collect(study: Study, now: datetime | None = None) -> dict[str, Any]:
    """The contents of a report.

    Args:
        study: what is reported.
        now: when; None for now.
    """
    rows = study.history()
    found = {
        "title": study.name,
        "made": (now or datetime.now(UTC)).isoformat(timespec="seconds"),
        "study": _study(study),
        "versions": {"created with prefopt": study.record.version, "python": platform.python_version(), **_versions()},
        "counts": _counts(rows),
        "raters": [{"rater": r.id, "status": r.status, "reason": r.reason} for r in study.raters],
        "appearances": appearances(study, rows),
        "exclusions": [_exclusion(row) for row in rows if row["excluded"] or row["status"] in ("undone", "withdrawn")],
        "consistency": study.diagnostics().lines(lambda c: f"[{params_text(c.params)}]"),
        "reliability": _reliability(study),
        "validation": _validation(study),
        "history": rows,
    }
    return found | (_inference(study) if any(slate for slate, a in study.said() if a.kind != "skip") else {})


def _study(study: Study) -> dict[str, Any]:
    record = study.record
    names = ("name", "question", "strategy", "settings", "query_size", "budget", "seed")
    created = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="seconds")
    conduct = study.conduct.to_json()
    return {n: getattr(record, n) for n in names} | {"created": created, "space": study.space.to_json(), **conduct}


def _versions() -> dict[str, str]:
    found = {}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _counts(rows: Sequence[dict[str, Any]]) -> dict[str, int]:
    asked = [row for row in rows if row["asked"] is not None]
    counts = {"asked": len(asked)}
    for status in ("answered", "skipped", "open", "withdrawn", "lapsed"):
        counts[status] = sum(row["status"] == status for row in asked)
    counts["made elsewhere"] = sum(row["status"] == "added" for row in rows)
    counts["steps without a person"] = sum(row["status"] == "automatic" for row in rows)
    counts["do not count"] = sum(bool(row["excluded"]) for row in rows)
    return counts


def appearances(study: Study, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """One record per option that was shown, or compared elsewhere, whether or not there is an answer."""
    names, made = study.names, []
    for row in rows:
        if row["status"] == "automatic":
            continue
        places = row["shown"] or row["slate"]
        named = row["named"] or []
        for place, (candidate, params) in enumerate(zip(places, row["params"], strict=True), start=1):
            record = {key: row[key] for key in ("event", "question", "status", "rater", "asked", "answered", "seconds")}
            record |= {"place": place, "of": len(places), "candidate": candidate, "own_id": names.get(candidate, "")}
            record |= {"answer": row["answer"], "named": named.index(candidate) + 1 if candidate in named else None}
            record |= {"infeasible": candidate in (row["infeasible"] or []), "reason": row["reason"]}
            record |= {
                k: row[k] for k in ("repeat_of", "again", "lapsed", "validation", "fallback", "note", "excluded")
            }
            made.append(record | {"params": params})
    return made


def _exclusion(row: dict[str, Any]) -> dict[str, Any]:
    why = (
        row["excluded"]
        or {"undone": "taken back", "withdrawn": "the answer that led to it was taken back"}[row["status"]]
    )
    return {"event": row["event"], "question": row["question"], "rater": row["rater"], "reason": why}


def _reliability(study: Study) -> dict[str, Any]:
    found = study.diagnostics()
    raters = [asdict(r) | {"name": r.name, "remarks": r.remarks(), "summary": r.summary()} for r in found.raters]
    return {
        "raters": raters,
        "agreement": asdict(found.agreement) if found.agreement else None,
        "shared": _shared(study, found),
        "lines": found.summary(),
    }


def _shared(study: Study, found: Diagnostics) -> str:
    """How much of the raters' utilities is their own; "" unless two of them have said enough to tell."""
    told_apart = distinguishable([r.answers for r in found.raters if not r.removed])
    if not told_apart or isinstance(study.space.domain, Arms):
        return ""
    return study.rater_model().lines()[-1]


def _validation(study: Study) -> dict[str, Any] | None:
    found = study.validation()
    return None if found is None else asdict(found) | {"text": str(found)}


def _inference(study: Study) -> dict[str, Any]:
    """What follows from the answers: the recommendation, the region of the best, slices, and predictions."""
    options, ids = Options(study.space.domain), study.ids
    compared, said = [encoded(study, study.params(i)) for i in ids], said_of(ids, study.said(), study.said_by())
    belief, best = Belief.of(options, compared, said), study.recommend()
    chosen = encoded(study, best.params)
    where, chance = belief.best(study.seed, [*compared, chosen], without=impossible(study))
    recommendation = {
        "candidate": best.candidate.id, "params": best.params, "probability_best": best.probability_best,
        "mean": best.mean, "sd": best.sd, "scale": best.scale, "candidate_set": best.candidate_set,
        "remark": best.remark,
        "runners_up": [{"params": r.params, "probability_best": r.probability_best} for r in best.runners_up],
    }  # fmt: skip
    predicted = held_out(options, compared, said, study.seed)
    return {
        "recommendation": recommendation,
        "enough": study.enough,
        "region": region(study, where, chance),
        "slices": slices(study, belief, best.params),
        "options": standings(study, belief, chosen, where, chance),
        "held_out": None if predicted is None else asdict(predicted),
    }


def impossible(study: Study) -> set[int]:
    """Candidates that were said to be infeasible, by an answer that counts."""
    rows = [row for row in study.history() if row["status"] in ("answered", "skipped") and not row["excluded"]]
    return {i for row in rows for i in row["infeasible"] or ()}


def encoded(study: Study, params: Any) -> Any:
    """An option as the domain names it: an index, or a row of the unit cube."""
    found = study.space.encode(params)
    return found if isinstance(study.space.domain, Box) else int(found)


def region(study: Study, where: Sequence[Any], chance: Any) -> dict[str, Any]:
    """The credible region of the best option: of a finite space a set, of every parameter an interval or choices."""
    decoded = [study.space.decode(option) for option in where]
    finite = not isinstance(study.space.domain, Box)
    places = smallest_set(chance) if finite else []
    listed = [{"params": decoded[i], "probability": float(chance[i])} for i in places[:LISTED]]
    made: dict[str, Any] = {"mass": CREDIBLE, "size": len(places) if finite else None, "set": listed, "parameters": {}}
    if not isinstance(decoded[0], dict) or not hasattr(study.space, "names"):
        return made
    for name in study.space.names:
        values = [params[name] for params in decoded]
        if all(isinstance(v, int | float) and not isinstance(v, bool) for v in values) and not _choices(study, name):
            made["parameters"][name] = {"interval": _interval(np.array(values, dtype=np.float64), chance)}
        else:
            shares = {str(v): float(sum(c for w, c in zip(values, chance, strict=True) if w == v)) for v in set(values)}
            made["parameters"][name] = {"choices": dict(sorted(shares.items(), key=lambda item: -item[1]))}
    return made


def _choices(study: Study, name: str) -> bool:
    """Whether the parameter is a choice without an order."""
    return any(p.name == name and hasattr(p, "choices") for p in getattr(study.space, "parameters", ()))


def _interval(values: Any, chance: Any) -> list[float]:
    order = np.argsort(values, kind="stable")
    below = np.cumsum(chance[order])
    tail = (1 - CREDIBLE) / 2
    low, high = np.searchsorted(below, tail + 1e-12), np.searchsorted(below, 1 - tail - 1e-12)
    return [float(values[order[min(int(i), len(order) - 1)]]) for i in (low, high)]


def slices(study: Study, belief: Belief, best: Any) -> list[dict[str, Any]]:
    """Along every parameter, through the recommended option: utility less that of the recommended one, with its sd."""
    made = []
    for parameter in getattr(study.space, "parameters", ()):
        values = _values(parameter)
        kept, options = [], []
        for value in values:
            try:
                options.append(encoded(study, {**best, parameter.name: value}))
                kept.append(value)
            except DomainError:  # a constraint forbids it
                continue
        mean, sd = belief.against(options, encoded(study, best))
        shown = {"parameter": parameter.name, "values": kept, "mean": mean.tolist(), "sd": sd.tolist()}
        made.append(shown | {"at": best[parameter.name], "log": bool(getattr(parameter, "log", False))})
    return made


def _values(parameter: Any) -> list[Any]:
    if hasattr(parameter, "choices"):
        return list(parameter.choices)
    if parameter.count is not None and parameter.count <= SLICE:
        return [parameter.value(i) for i in range(parameter.count)]
    return list(dict.fromkeys(parameter.at(float(u)) for u in np.linspace(0, 1, SLICE)))


def standings(study: Study, belief: Belief, chosen: Any, where: Sequence[Any], chance: Any) -> list[dict[str, Any]]:
    """The options that are most probably the best, those shown among them of a box, with utility and chance to win."""
    finite = not isinstance(study.space.domain, Box)
    options = [where[i] for i in np.argsort(-chance, kind="stable")[:LISTED]] if finite else []
    if not finite:
        seen = [encoded(study, study.params(i)) for i in study.ids]
        mean, _ = belief.against(seen, chosen)
        options = [seen[i] for i in np.argsort(-mean, kind="stable")[:LISTED]]
    mean, sd = belief.against(options, chosen)
    place = {o: float(c) for o, c in zip(where, chance, strict=True)} if finite else {}
    return [
        {
            "params": study.space.decode(o),
            "mean": float(m),
            "sd": float(s),
            "beats_recommended": belief.chance(o, chosen),
        }
        | ({"probability_best": place[o]} if finite else {})
        for o, m, s in zip(options, mean, sd, strict=True)
    ]
