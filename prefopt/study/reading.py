"""What can be read from a study; ``Study`` adds what changes it."""

from __future__ import annotations

import copy
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prefopt.errors import StudyError
from prefopt.kinds import counted, is_whole
from prefopt.study import export
from prefopt.study.asking import Asker
from prefopt.study.conduct import Conduct
from prefopt.study.consistency import Diagnostics, diagnose
from prefopt.study.fold import State
from prefopt.study.gain import TEN, expected_gain, little_to_gain
from prefopt.study.limit import one_thread
from prefopt.study.raters import Rater
from prefopt.study.recommend import Recommendation, enough, recommend
from prefopt.study.replay import Replay, replay
from prefopt.study.storage import Storage, StudyRecord

if TYPE_CHECKING:
    import torch

    from prefopt.study.noise import RaterModel


class StudyReading:
    """The log of a study, its fold, and everything that follows from it."""

    def __init__(self, storage: Storage, record: StudyRecord) -> None:
        self._storage, self.record = storage, record
        self._lock = threading.RLock()
        self._state = State(record)
        self._asker = Asker(record)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.name!r}, {counted(self._sync().answered, 'answer')}, "
            f"strategy={self.record.strategy!r})"
        )

    def __getstate__(self) -> dict[str, Any]:
        return {"storage": self._storage, "record": self.record}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["storage"], state["record"])  # type: ignore[misc]

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return type(self)(copy.deepcopy(self._storage, memo), self.record)

    def close(self) -> None:
        """Close the connections to the storage; the study opens them again when it needs them."""
        self._storage.close()

    @property
    def name(self) -> str:
        """The study's name in its storage."""
        return self.record.name

    @property
    def space(self) -> Any:
        """The space, with the arms that were added since."""
        with self._lock:
            return self._sync().space

    @property
    def question(self) -> str:
        """The sentence put to the person."""
        return self.record.question

    @property
    def answered(self) -> int:
        """How many questions have an answer now (undone ones do not count, skips do not either)."""
        with self._lock:
            return self._sync().answered

    @property
    def budget(self) -> int | None:
        """How many answers are planned."""
        return self.record.budget

    @property
    def query_size(self) -> int:
        """How many options a question shows."""
        return self.record.query_size

    @property
    def strategy(self) -> str:
        """The name of the policy."""
        return self.record.strategy

    @property
    def seed(self) -> int:
        """The seed that all questions follow from."""
        return self.record.seed

    @property
    def raters(self) -> list[Rater]:
        """Everybody who was added, asked or has answered, with a name."""
        with self._lock:
            return self._sync().everybody()

    def rater_by_token(self, token: str) -> Rater | None:
        """The active rater whose link has this ``token``; None if there is none."""
        with self._lock:
            return self._sync().raters.by_token(token)

    @property
    def conduct(self) -> Conduct:
        """How the study is conducted: shares of hidden repeats and of questions for several raters, and the lease."""
        with self._lock:
            return self._sync().conduct

    @property
    def paused(self) -> str | None:
        """Why nothing is asked at the moment ("" if nobody said why); None while questions are asked."""
        with self._lock:
            return self._sync().paused

    @property
    def version(self) -> dict[str, Any] | None:
        """Of which older version this is a new one: number, of (its name), kept and left_out answers, changed."""
        with self._lock:
            return self._sync().version

    def recommend(self) -> Recommendation:
        """The option to take now, how good it seems, and how probably it is the best; the same for the same log."""
        with self._lock, one_thread():
            return recommend(self._sync(), self._asker)

    @property
    def enough(self) -> str:
        """Why it is reasonable to stop now; an empty text while more answers are worth it."""
        with self._lock, one_thread():
            return enough(self._sync(), self._asker) or little_to_gain(self._state, self._asker)

    def expected_gain(self, answers: int = TEN) -> float:
        """How much ``answers`` more are expected to raise the chance to win of what is recommended."""
        if not is_whole(answers) or answers < 1:
            raise StudyError(f"answers must be a whole number of at least 1, got {answers!r}")
        with self._lock, one_thread():
            return expected_gain(self._sync(), self._asker, int(answers))

    @property
    def remaining(self) -> int | None:
        """About how many more answers the budget foresees; None without a budget."""
        budget = self.record.budget
        return None if budget is None else max(0, budget - self.answered)

    def diagnostics(self) -> Diagnostics:
        """Answers that contradict each other or go round in a circle, repeats, and how reliable the raters are.

        ``diagnostics().lines()`` says what stands out, ``summary()`` has a line for every rater.
        """
        with self._lock, one_thread():
            state = self._sync()
            return diagnose(state, self._asker.noises(state))

    def rater_model(self) -> RaterModel:
        """How noisy each rater is, and how much of their utilities is their own; fitted anew, which takes seconds.

        Raises:
            StudyError: there is no answer yet, or the options are a list without neighbours.
        """
        from prefopt.study.noise import rater_model

        with self._lock, one_thread():
            return rater_model(self._sync())

    def history(self) -> list[dict[str, Any]]:
        """One record per question, unanswered and undone ones too, and per comparison made elsewhere."""
        with self._lock:
            return export.history(self._sync())

    def to_frame(self) -> Any:
        """``history()`` as a pandas DataFrame (extra ``frame``)."""
        return export.to_frame(self.history())

    def export(self, path: str | Path) -> None:
        """Write ``history()`` as ``.csv``, or everything (study, candidates, events) as ``.json``."""
        with self._lock:
            export.write(self._sync(), self._storage.read(self.record), path)

    def replay(self) -> Replay:
        """Compute every question again from the log, and say whether it is the one that was asked."""
        with self._lock:
            return replay(self.record, self._storage.read(self.record))

    @property
    def ids(self) -> list[int]:
        """Candidate ids of the rows of ``X``: every option that was shown, added or compared."""
        with self._lock:
            return self._sync().seen_ids()

    @property
    def X(self) -> torch.Tensor:
        """Those options in the unit cube (one-hot for arms), float64 (n, d).

        With ``comparisons`` this is what BoTorch takes: ``PairwiseGP(study.X, study.comparisons)``.
        """
        with self._lock:
            return export.points(self._sync())

    @property
    def comparisons(self) -> torch.Tensor:
        """Rows [winner, loser] of ``X``, int64 (m, 2); ties and an option's meetings with itself are left out."""
        with self._lock:
            return export.comparisons(self._sync())

    def _sync(self) -> State:
        new = self._storage.read(self.record, after=self._state.last)
        if any(event.payload.get("change") == "erased" for event in new) and self._state.last:
            self._forget()  # what was read before is not what the log says any more
            new = self._storage.read(self.record)
        for event in new:
            self._state.apply(event)
        return self._state

    def _forget(self) -> None:
        self._state, self._asker = State(self.record), Asker(self.record)
