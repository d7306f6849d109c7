"""What the admin page shows first, as JSON."""

from __future__ import annotations

from statistics import median
from typing import Any

from prefopt.frontend import format_value
from prefopt.kinds import counted
from prefopt.study import Study
from prefopt.study.recommend import Standing
from prefopt.web.desk import Desk


def overview(desk: Desk) -> dict[str, Any]:
    """The study, its raters, what it recommends and how sure it is, and what stands out."""
    study, rows = desk.reading, desk.reading.history()
    record = study.record
    found = study.diagnostics()
    said = [row for row in rows if row["answer"] not in (None, "skip") and row["status"] != "automatic"]
    return {
        "name": study.name,
        "question": study.question,
        "strategy": study.strategy,
        "options": _options(study),
        "query_size": record.query_size,
        "budget": study.budget,
        "answered": study.answered,
        "remaining": study.remaining,
        "paused": study.paused,
        "enough": desk.background.enough,
        "problem": desk.drawings.problem,
        "best": _best(study) if said else None,
        "remarks": found.lines(lambda candidate: f"[{text(candidate.params)}]") if said else [],
        "validation": _validation(study),
        "raters": _raters(study, rows),
        "reliability": found.summary(),
    }


def text(params: Any) -> str:
    """Parameters on one line.

    >>> text({"dose": 14.5, "water": "soft"})
    'dose 14.5, water soft'
    """
    if isinstance(params, dict):
        return ", ".join(f"{name} {format_value(value)}" for name, value in params.items())
    return format_value(params)


def _options(study: Study) -> str:
    domain = study.space.domain
    size = getattr(domain, "size", None)
    return counted(size, "option") if size is not None else f"a continuous space of {counted(domain.dim, 'parameter')}"


def _best(study: Study) -> dict[str, Any]:
    best = study.recommend()
    more = {"candidate_set": best.candidate_set, "scale": best.scale, "remark": best.remark}
    return _standing(best) | more | {"runners_up": [_standing(other) for other in best.runners_up]}


def _validation(study: Study) -> dict[str, Any] | None:
    found = study.validation()
    if found is None:
        return None
    numbers = {"planned": found.planned, "answered": found.answered, "over": found.over}
    return numbers | {"recommended": text(found.recommended.params), "text": str(found)}


def _standing(one: Standing) -> dict[str, Any]:
    return {"text": text(one.params), "mean": one.mean, "sd": one.sd, "probability_best": one.probability_best}


def _raters(study: Study, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found = []
    for rater in study.raters:
        mine = [row for row in rows if row["rater"] == rater.id]
        answers = [row for row in mine if row["status"] == "answered"]
        seconds = [row["seconds"] for row in answers if row["seconds"] is not None]
        found.append({
            "id": rater.id,
            "name": rater.name,
            "status": rater.status,
            "reason": rater.reason,
            "answered": len(answers),
            "skipped": sum(row["status"] == "skipped" for row in mine),
            "seconds": median(seconds) if seconds else None,
            "last": max((row["answered"] for row in answers), default=None),
        })  # fmt: skip
    return found
