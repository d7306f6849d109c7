"""A blind validation round of a study: begun, asked, ended and read."""

from __future__ import annotations

import time
from collections.abc import Sequence

from prefopt.errors import StudyError
from prefopt.kinds import is_whole
from prefopt.study import naming
from prefopt.study.changes import check_may_ask
from prefopt.study.events import Event
from prefopt.study.fold import State
from prefopt.study.limit import one_thread
from prefopt.study.question import Query
from prefopt.study.raters import Rater
from prefopt.study.repeats import known_question
from prefopt.study.together import StudyTogether
from prefopt.study.validation import Validation, begin_event, result_of


class StudyValidating(StudyTogether):
    """A study that tests what it recommends."""

    def validate(self, each: int = 4) -> Validation:
        """Begin a blind validation round: what is recommended now, against its rivals, shuffled and unannounced.

        ``ask`` gives these comparisons next, to whoever asks; a question that is open already stays the first, so that
        its rater notices nothing. Their answers do not change the recommendation.

        Args:
            each: comparisons with the centre of the space, the runner-up and options drawn at random, each.

        Returns:
            The round, without a result yet; ``validation()`` has it.

        Raises:
            StudyError: nobody has answered yet, a round is under way, or ``each`` is no whole number of at least 1.
        """
        if not is_whole(each) or each < 1:
            raise StudyError(f"each must be a whole number of comparisons of at least 1, got {each!r}")
        with self._lock, one_thread():
            self._storage.append(self.record, begin_event(self._sync(), self._asker, int(each)))
            return result_of(self._sync())

    def ask_to_validate(self, rater: str | Rater | None = None) -> Query | None:
        """The rater's next comparison of the validation round, though another question may be open, which stays so.

        For somebody who sits down to validate; ``ask`` gives the same comparisons to those who shall not notice.

        Args:
            rater: who is asked: an id, a name or a ``Rater``.

        Returns:
            None if the round is over, or others have what is left of it.

        Raises:
            StudyError: the study is paused, the rater was removed, or is none.

        >>> from prefopt import create_study
        >>> study = create_study(["tea", "coffee", "cocoa"], seed=1)
        >>> study.add_comparison("tea", "coffee")
        >>> ordinary, planned = study.ask(), study.validate(each=1).planned
        >>> study.ask() == ordinary, study.ask_to_validate() == ordinary
        (True, False)
        """
        naming.check_rater(rater)
        with self._lock, one_thread():
            while True:  # again only if another process asked something in between
                state = self._sync()
                who = state.raters.resolve(rater)
                mine = [a for a in state.open_questions(who) if _of_round(state, a.trial)]
                check_may_ask(state, who, mine)
                if mine:
                    return state.query(mine[0])
                known = known_question(state, state.next_number, who, time.time())
                if known is None or not _of_round(state, known.payload.get("trial")):
                    return None
                self._storage.append(self.record, self._asker.draft(state, who, None))

    def end_validation(self) -> None:
        """Ask no more comparisons of the validation round."""
        with self._lock:
            self._storage.append(self.record, Event("validation", {"on": False}))

    def validation(self) -> Validation | None:
        """What the latest blind validation round (``validate``) has found so far; None if there was none."""
        with self._lock:
            return None if self._sync().round is None else result_of(self._state)


def _of_round(state: State, trial: Sequence[int] | None) -> bool:
    """Whether a question with this mark (``Asked.trial``) belongs to the latest round."""
    return trial is not None and state.round is not None and trial[0] == state.round.number
