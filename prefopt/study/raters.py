"""Who answers: raters with a pseudonym, and what the log says of them."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Literal

from prefopt.errors import StudyError, did_you_mean
from prefopt.study.events import Event

#: Bytes of a rater's secret token: nobody guesses 192 random bits.
TOKEN_BYTES = 24


@dataclass(frozen=True)
class Rater:
    """One rater.

    Attributes:
        id: the pseudonym, such as "rater 2"; what the log, exports and reports say.
        name: who that is, for the people who run the study; "" if nobody said or it was erased. Never exported.
        status: "active"; "removed" (the answers are kept and do not count); or "erased" (nobody knows any more who it
            was).
        reason: why removed.
        token: the secret of the rater's link. Only in what ``add_rater`` and ``renew_token`` return: the log keeps a
            fingerprint of it.
    """

    id: str
    name: str = ""
    status: Literal["active", "removed", "erased"] = "active"
    reason: str = ""
    token: str | None = field(default=None, repr=False, compare=False)


class Raters:
    """The raters of a study as a fold of the events of kind "rater"."""

    def __init__(self) -> None:
        self._known: dict[str, Rater] = {}
        self._registered: set[str] = set()
        self._fingerprints: dict[str, str] = {}  # id -> of the token

    def apply(self, event: Event) -> None:
        """Fold one event in."""
        payload, change, who = event.payload, event.payload["change"], str(event.rater)
        rater = self._known.get(who, Rater(who))
        if change == "added":
            self._registered.add(who)
            rater = replace(rater, name=payload.get("name", ""))
        elif change == "removed":
            rater = replace(rater, status="removed", reason=payload["reason"])
        elif change == "restored":
            rater = replace(rater, status="active", reason="")
        elif change == "erased":
            rater = replace(rater, status="erased", name="")
            self._fingerprints.pop(who, None)
        if "token" in payload:
            self._fingerprints[who] = payload["token"]
        self._known[who] = rater

    def get(self, who: str) -> Rater:
        """The rater called ``who`` in the log."""
        return self._known.get(who, Rater(who))

    def all(self, others: Iterable[str | None] = ()) -> list[Rater]:
        """Every rater, and ``others`` who were asked without having been added."""
        return [self.get(who) for who in dict.fromkeys([*filter(None, others), *self._known])]

    def counts(self, who: str | None) -> bool:
        """Whether the answers of ``who`` count."""
        known = self._known.get(who) if who else None
        return known is None or known.status != "removed"

    def resolve(self, named: str | Rater | None) -> str | None:
        """The id of the rater ``named`` by id, name or as a ``Rater``; any text while no rater has been added.

        Raises:
            StudyError: raters were added, and this is none of them.
        """
        if named is None:
            return None
        text = named.id if isinstance(named, Rater) else named
        if text in self._known:
            return text
        for rater in self._known.values():
            if rater.name and rater.name == text:
                return rater.id
        if self._registered:
            names = [word for rater in self._known.values() for word in (rater.id, rater.name) if word]
            raise StudyError(
                f"there is no rater {text!r}{did_you_mean(text, names) or '; there are ' + ', '.join(self._known)}; "
                "add_rater() adds one"
            )
        return text

    def check_active(self, who: str | None) -> None:
        """Raise StudyError unless ``who`` may be asked."""
        if who is None:
            return
        rater = self.get(who)
        if rater.status == "removed":
            raise StudyError(f"{who!r} was removed ({rater.reason}); restore_rater({who!r}) lets them go on")
        if rater.status == "erased":
            raise StudyError(f"{who!r} was erased, so nobody can go on as this rater; add_rater() adds one")

    def by_token(self, token: str) -> Rater | None:
        """The active rater with this token; takes as long for a wrong one, whatever it is."""
        given, found = fingerprint(token), None
        for who, known in self._fingerprints.items():
            if hmac.compare_digest(given, known) and self.get(who).status == "active":
                found = self.get(who)
        return found

    def new_token(self) -> str:
        """A secret that fits into a link."""
        return secrets.token_urlsafe(TOKEN_BYTES)

    def carried(self) -> list[Event]:
        """The events that make the same raters of a new log."""
        events = []
        for who, rater in self._known.items():
            if who in self._registered:
                payload = {"change": "added"} | ({"name": rater.name} if rater.name else {})
                payload |= {"token": self._fingerprints[who]} if who in self._fingerprints else {}
                events.append(Event("rater", payload, slot=slot_of(who), rater=who))
            if rater.status == "removed":
                events.append(Event("rater", {"change": "removed", "reason": rater.reason}, rater=who))
            elif rater.status == "erased":
                events.append(Event("rater", {"change": "erased"}, rater=who))
        return events

    def added(self, name: str, pseudonym: str | None, taken: Iterable[str | None]) -> tuple[Event, str]:
        """The event of a new rater, and the rater's token.

        Raises:
            StudyError: there is a rater of that name or pseudonym.
        """
        used = {*self._known, *taken}
        for rater in self._known.values():
            if name and name in (rater.name, rater.id):
                raise StudyError(f"there is a rater {name!r} already ({rater.id})")
        if pseudonym in used:
            raise StudyError(f"there is a rater {pseudonym!r} already; leave out pseudonym=, or give another one")
        number = len(self._registered) + 1
        while pseudonym is None or pseudonym in used:
            pseudonym, number = f"rater {number}", number + 1
        token = self.new_token()
        payload = {"change": "added", "token": fingerprint(token)} | ({"name": name} if name else {})
        return Event("rater", payload, slot=slot_of(pseudonym), rater=pseudonym), token


def slot_of(pseudonym: str) -> str:
    """What keeps a pseudonym from being given twice."""
    return f"rater:{sha256(pseudonym.encode()).hexdigest()[:32]}"


def fingerprint(token: str) -> str:
    """What the log keeps of a token; a token is long and random, so that nobody gets from here to it."""
    return sha256(token.encode()).hexdigest()
