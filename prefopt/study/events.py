"""What happens in a study, as the append-only log keeps it. The state of a study is the fold of these events."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

#: Version of the tables and of the payloads below; a file of a newer one is refused with a clear message.
SCHEMA_VERSION = 2

#: kind of event -> what its payload holds. Options are indices on finite domains, lists of floats on boxes.
KINDS = {
    "asked": "query, slate (options in the policy's order), shown (positions of the distinct options), "
    "after (the event up to which the log was known); where it applies, note (for readers), "
    "fallback (true: drawn at random), late (true: completed at random for lack of time), "
    "repeat_of (the query that was skipped), "
    "again (the query it repeats in secret), lapsed (the query it stands for, whose rater let the time pass), "
    "trial (event of the validation round, place in it), "
    "ahead (the rater's question before, event of the answer to it: drafted when the log was known up to after, "
    "supposing this answer)",
    "answered": "query, answer (about the distinct options of the question, in the policy's order, less the infeasible "
    "ones unless it is a skip), infeasible (positions of those among all, where there are any)",
    "auto": "query, slate, answer, after: a step without a person (an option met itself: a fair coin)",
    "undone": "event (the number of an answer or comparison), withdrawn (open questions chosen because of it)",
    "restored": "event (the number of an undone answer or comparison)",
    "added": "option or label: an own idea that joins the next question",
    "compared": "slate, answer: a comparison that was made elsewhere; if it is from the version before, from (its "
    "event) and out (options that cannot be made)",
    "version": "number, of (the name of the version before), kept, left_out (answers), changed: the study begins from "
    "an older version",
    "listed": "options, names (own ids of these): designs that exist already, not to be put before anybody for that",
    "configured": "repeats, overlap, lease: how the study is conducted",
    "rater": "change (added, token, removed, restored, erased); where it applies name, token (its fingerprint), "
    "reason, answers (keep or erase)",
    "excluded": "event (the number of an answer or comparison), reason: it does not count any more",
    "included": "event (the number of an excluded answer or comparison)",
    "validation": "on; if so, recommended (an option) and trials (pairs of the kind of rival and an option, in order)",
    "paused": "on (whether from now on nothing is asked), reason",
    "erased": "query, or slate: what is left of an answer or comparison that its rater wanted erased",
}


@dataclass(frozen=True)
class Event:
    """One line of the log.

    Attributes:
        kind: a key of ``KINDS``.
        payload: JSON-able, as ``KINDS`` says.
        slot: what can happen only once, such as the first answer to question 12; unique in a study.
        rater: who, if anybody said.
        seconds: how long the answer took, if measured.
        token: the client's own mark of this event; the same token never counts twice.
        number: 1, 2, ... within the study, given by the storage.
        time: seconds since 1970 (UTC), given by the storage unless it is there already.
    """

    kind: str
    payload: dict[str, Any] = field(default_factory=dict)
    slot: str = ""
    rater: str | None = None
    seconds: float | None = None
    token: str | None = None
    number: int = 0
    time: float = 0.0
