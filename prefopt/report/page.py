"""The report as one HTML page that needs nothing else: no script, no font, no picture from elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from prefopt.report.figures import plot_calibration, plot_options, plot_seconds, plot_slices
from prefopt.report.words import day, number, params_text, space_rows

#: What stands within a line and has a writing direction of its own (Unicode's first strong isolate).
ISOLATE = "\u2068{}\u2069"
#: Cells of so few characters are not broken.
SHORT = 16
STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; max-width: 60rem; margin: 2rem auto;
  padding: 0 1.2rem; }
h1 { font-size: 1.6rem; margin-bottom: .2rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; border-bottom: 1px solid #bbb; padding-bottom: .2rem; }
table { border-collapse: collapse; margin: .6rem 0; font-size: .87rem; }
th, td { text-align: left; padding: .22rem .7rem .22rem 0; vertical-align: top; border-bottom: 1px solid #e3e3e3; }
td { overflow-wrap: break-word; max-width: 34rem; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.wide td.name { white-space: nowrap; }
.best { font-size: 1.1rem; border-left: 4px solid #1b5e8c; padding: .4rem .9rem; background: #f3f7fa; }
.note, figcaption, footer { color: #4a4a4a; font-size: .87rem; }
figure { margin: .8rem 0; } figure svg { max-width: 100%; height: auto; }
.wide { overflow-x: auto; }
@media print {
  body { font-size: 10pt; max-width: none; margin: 0; padding: 0; }
  h2 { break-after: avoid; } figure, tr, .best { break-inside: avoid; }
  .wide { overflow: visible; } .wide table { font-size: 7pt; } thead { display: table-header-group; }
  @page { margin: 16mm; }
}
"""


def page(found: Mapping[str, Any]) -> str:
    """The page of what ``collect`` found."""
    parts = [_head(found), _best(found), _region(found), _figures(found), _predictions(found), _validation(found)]
    parts += [_raters(found), _exclusions(found), _design(found), _appearances(found), _versions(found)]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{escape(found['title'])}</title><style>{STYLE}</style></head>\n<body>\n"
        + "\n".join(parts)
        + "\n</body></html>\n"
    )


def table(head: Sequence[str], rows: Iterable[Sequence[Any]], *, wide: bool = False) -> str:
    """A table; numbers are set to the right, everything is escaped."""
    body, numeric = [], [True] * len(head)
    listed = [list(row) for row in rows]
    for row in listed:
        numeric = [a and (isinstance(c, int | float) or c in ("", None)) for a, c in zip(numeric, row, strict=True)]
    classes = [' class="n"' if n and listed else "" for n in numeric]
    for row in listed:
        cells = zip(row, classes, strict=True)
        body.append("<tr>" + "".join(_cell(c, k) for c, k in cells) + "</tr>")
    top = "".join(f"<th{k}>{escape(h)}</th>" for h, k in zip(head, classes, strict=True))
    made = f"<table><thead><tr>{top}</tr></thead><tbody>{''.join(body)}</tbody></table>"
    return f'<div class="wide">{made}</div>' if wide else made


def _cell(content: Any, kind: str) -> str:
    text = number(content)
    short = ' class="name"' if len(text) <= SHORT else ""
    return f"<td{kind or short}>{isolated(text) if isinstance(content, str) else escape(text)}</td>"


def isolated(text: str) -> str:
    """An escaped text of the user's, whose writing direction is its own.

    >>> isolated("<b>")
    '<bdi>&lt;b&gt;</bdi>'
    """
    return f"<bdi>{escape(text)}</bdi>"


def paragraph(text: str, kind: str = "") -> str:
    """An escaped paragraph."""
    return f"<p{f' class={chr(34)}{kind}{chr(34)}' if kind else ''}>{escape(text)}</p>"


def _head(found: Mapping[str, Any]) -> str:
    study, counts = found["study"], {k: v for k, v in found["counts"].items() if v}
    said = ", ".join(f"{v} {k}" for k, v in counts.items())
    return (
        f"<h1>{isolated(found['title'])}</h1>"
        f"<p>Question put to the raters: “{isolated(study['question'])}”</p>"
        + paragraph(f"{said}. Study begun {day(study['created'])}, report made {day(found['made'])} (UTC).", "note")
    )


def _best(found: Mapping[str, Any]) -> str:
    if "recommendation" not in found:
        return "<h2>Recommendation</h2>" + paragraph("There is no answer yet, so nothing is known of the best.")
    best = found["recommendation"]
    lines = [f"<p class='best'><strong>{isolated(params_text(best['params']))}</strong><br>"
             f"{best['probability_best']:.0%} sure that it is the best of {escape(best['candidate_set'])}; "
             f"{escape(best['scale'])}: {best['mean']:.2f} ± {best['sd']:.2f}</p>"]  # fmt: skip
    if best["remark"]:
        lines.append(paragraph(best["remark"], "note"))
    if best["runners_up"]:
        rows = [[params_text(r["params"]), f"{r['probability_best']:.0%}"] for r in best["runners_up"]]
        lines.append(table(["runner-up", "probability of being the best"], rows))
    if found.get("enough"):
        lines.append(paragraph(f"Enough: {found['enough']}."))
    return "<h2>Recommendation</h2>" + "".join(lines)


def _region(found: Mapping[str, Any]) -> str:
    region = found.get("region")
    if region is None:
        return ""
    title, parts = f"{region['mass']:.0%} credible region of the best option", []
    if region["size"] is not None:
        many = f", the {len(region['set'])} most probable of them" if region["size"] > len(region["set"]) else ""
        parts.append(paragraph(f"The smallest set with that probability has {region['size']} options{many}:"))
        parts.append(
            table(
                ["option", "probability"],
                [[params_text(r["params"]), f"{r['probability']:.1%}"] for r in region["set"]],
            )
        )
    rows = []
    for name, what in region["parameters"].items():
        low_high = what.get("interval")
        text = f"{number(low_high[0])} to {number(low_high[1])}" if low_high else ", ".join(
            f"{choice}: {share:.0%}" for choice, share in what["choices"].items()
        )  # fmt: skip
        rows.append([name, text])
    if rows:
        parts.append(table(["parameter of the best option", "95 % interval, or probability of each choice"], rows))
    note = (
        "From one model of all answers that count, whatever rule chose the questions: a Gaussian process over latent "
        "utility, choices among several as one choice (Plackett–Luce), hyper-parameters learned; where two raters have "
        "given enough answers, with a noise of each rater's own."
    )
    return f"<h2>{title}</h2>" + "".join(parts) + paragraph(note, "note")


def _figure(drawn: str, caption: str) -> str:
    if not drawn:
        return ""
    drawn = drawn.replace("<svg", f'<svg role="img" aria-label="{escape(caption)}"', 1)
    return f"<figure>{drawn}<figcaption>{escape(caption)}</figcaption></figure>"


def _figures(found: Mapping[str, Any]) -> str:
    parts = []
    if found.get("slices"):
        caption = (
            "Utility along each parameter, the others as recommended, relative to the recommended option, with 95 % "
            "bands; one unit is about the noise of an answer. Dotted: the recommended value."
        )
        parts.append(_figure(plot_slices(found["slices"]), caption))
    if found.get("options"):
        caption = "Leading options: utility relative to the recommended one, with 95 % intervals."
        parts.append(_figure(plot_options(found["options"], lambda p: params_text(p, 60)), caption))
    return "<h2>What was learned</h2>" + "".join(parts) if parts else ""


def _predictions(found: Mapping[str, Any]) -> str:
    title, held = "<h2>Prediction of held-out answers</h2>", found.get("held_out")
    if held is None:
        return title + paragraph("Too few answers to hold some of them out.", "note")
    said = (
        f"{held['answers']} answers ({held['pairs']} pairs) were predicted in {held['folds']} parts, each by a model "
        "that knows no answer about the same options: the favoured side was preferred in "
        f"{held['accuracy']:.0%}. Mean squared error (Brier) "
        f"{held['brier']:.3f}, a coin has 0.250; log loss {held['log_loss']:.3f}, a coin has 0.693."
    )
    caption = "Calibration: points on the line mean that stated chances are true; exact 95 % intervals."
    return title + paragraph(said) + _figure(plot_calibration(held), caption)


def _validation(found: Mapping[str, Any]) -> str:
    valid = found["validation"]
    title = "<h2>Blind validation</h2>"
    if valid is None:
        return title + paragraph("No blind validation round was held.", "note")
    rows = [[v["rival"], v["won"], v["lost"], v["ties"]] for v in valid["versus"]]
    return (
        title + paragraph(valid["text"] + ".") + table(["recommended against", "won", "lost", "about the same"], rows)
    )


def _raters(found: Mapping[str, Any]) -> str:
    reliable = found["reliability"]
    rows = []
    for r in reliable["raters"]:
        places, triads = r["places"], r["triads"]
        repeats = f"{r['alike']} of {r['repeats']}" if r["repeats"] else "–"
        circles = f"{triads['circular']} of {triads['compared']}" if triads["compared"] else "–"
        first = f"{places['first']} of {places['answers']}" if places["answers"] else "–"
        rows.append([r["name"] + (" (removed)" if r["removed"] else ""), r["answers"], r["ties"], r["skips"],
                     "" if r["seconds"] is None else round(r["seconds"], 1), first, repeats, circles,
                     "" if r["noise"] is None else round(r["noise"], 1)])  # fmt: skip
    head = ["rater", "answers", "ties", "skips", "median s", "first option chosen", "repeats alike", "circular triads"]
    head.append("noise (1 is usual)")
    if all(row[-1] == "" for row in rows):  # raters were taken for alike
        head, rows = head[:-1], [row[:-1] for row in rows]
    parts = [table(head, rows, wide=True)] if rows else [paragraph("Nobody has answered yet.", "note")]
    remarks = list(dict.fromkeys([*(x for r in reliable["raters"] for x in r["remarks"]), *found["consistency"]]))
    if remarks:
        parts.append("<ul>" + "".join(f"<li>{escape(line)}</li>" for line in remarks) + "</ul>")
    if reliable["agreement"]:
        parts.append(paragraph(reliable["lines"][-1][:1].upper() + reliable["lines"][-1][1:] + "."))
    if reliable["shared"]:
        parts.append(paragraph(reliable["shared"][:1].upper() + reliable["shared"][1:] + "."))
    caption = "Seconds per answer, in order."
    return "<h2>Raters and reliability</h2>" + "".join(parts) + _figure(plot_seconds(found["history"]), caption)


def _exclusions(found: Mapping[str, Any]) -> str:
    rows = [[x["event"], x["question"], x["rater"] or "", x["reason"]] for x in found["exclusions"]]
    title = "<h2>Answers that do not count</h2>"
    return title + (table(["event", "question", "rater", "reason"], rows) if rows else paragraph("None.", "note"))


def _design(found: Mapping[str, Any]) -> str:
    study = found["study"]
    rows = space_rows(study["space"])
    keep = {"strategy": "rule that chose the questions", "settings": "its settings", "seed": "seed",
            "query_size": "options per question", "budget": "planned answers", "repeats": "share of hidden repeats",
            "overlap": "share of questions for several raters", "lease": "seconds a question is reserved"}  # fmt: skip
    settings = [[text, "as default" if study[k] in ({}, None) else study[k]] for k, text in keep.items()]
    return "<h2>Space and design</h2>" + table(["what can be chosen", ""], rows) + table(["setting", "value"], settings)


def _appearances(found: Mapping[str, Any]) -> str:
    rows: dict[int, list[Any]] = {}
    for shown in found["appearances"]:
        row = rows.setdefault(
            shown["event"], [shown["question"] or "", shown["rater"] or "", [], "", shown["seconds"], ""]
        )
        mark = f"({shown['own_id']}) " if shown["own_id"] else ""
        row[2].append(f"{shown['place']}: {ISOLATE.format(mark + params_text(shown['params'], 44))}")
        row[3] = _answer(shown, row[3])
        row[5] = _remarks(shown)
    cells = [[q, r, "  |  ".join(s), a, "" if t is None else round(t, 1), why] for q, r, s, a, t, why in rows.values()]
    head = ["question", "rater", "shown, in order", "answer", "s", "remarks"]
    return "<h2>Every appearance</h2>" + table(head, cells, wide=True)


def _answer(shown: Mapping[str, Any], before: str) -> str:
    kind, status = shown["answer"], shown["status"]
    if kind is None:
        return str({"open": "not answered", "lapsed": "not answered in time"}.get(status, status))
    if shown["named"] is None:
        return before or str({"tie": "about the same", "skip": "skipped", "pairs": "all pairs"}.get(kind, kind))
    return f"{before if before.startswith(kind) else kind} {shown['place']}"


def _remarks(shown: Mapping[str, Any]) -> str:
    said = [
        shown["reason"] or "",
        shown["note"] or "",
        f"does not count: {shown['excluded']}" if shown["excluded"] else "",
    ]
    said += [
        f"repeats {shown['again']}" if shown["again"] else "",
        f"returns {shown['repeat_of']}" if shown["repeat_of"] else "",
    ]
    said += [f"instead of {shown['lapsed']}" if shown["lapsed"] else ""]
    said += [f"validation: {shown['validation']}" if shown["validation"] else ""]
    said += [{"undone": "taken back", "added": "made elsewhere"}.get(shown["status"], "")]
    return "; ".join(filter(None, said))


def _versions(found: Mapping[str, Any]) -> str:
    return "<h2>Versions</h2>" + table(["", ""], found["versions"].items())
