"""What requests and responses look like; the description at ``/openapi.json`` is made from these."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from prefopt.study.naming import LONGEST

#: The client's own mark of an answer.
Mark = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{8,64}$")]
Number = Annotated[int, Field(ge=1, le=2**31 - 1)]
Position = Annotated[int, Field(ge=0, le=5)]
Positions = Annotated[list[Position], Field(max_length=6)]
#: Text without control characters, which some databases do not keep.
Words = Annotated[str, Field(max_length=500, pattern=r"^[^\x00-\x1f\x7f]*$")]
#: A reason that the log keeps for good, as long as a study takes.
Reason = Annotated[str, Field(max_length=LONGEST, pattern=r"^[^\x00-\x1f\x7f]*$")]
Name = Annotated[str, Field(max_length=100, pattern=r"^[^\x00-\x1f\x7f]*$")]


class Body(BaseModel):
    """A request with nothing but what is listed."""

    model_config = ConfigDict(extra="forbid", strict=True)


class AnswerBody(Body):
    """What a rater said of a question; options go by their position on the screen, from 0."""

    id: Mark
    question: Number
    kind: Literal["best", "worst", "ranking", "tie", "skip"]
    options: Positions = []
    infeasible: Positions = []
    reason: Words = ""
    seconds: Annotated[float, Field(ge=0, le=1e7, allow_inf_nan=False, strict=False)] | None = None


class UndoBody(Body):
    """The question whose answer is taken back, the last one the rater answered."""

    id: Mark
    question: Number


class RaterBody(Body):
    """A new rater; the name is for the people who run the study."""

    name: Name = ""


class ReasonBody(Body):
    """Why."""

    reason: Reason = ""


class RoundBody(Body):
    """How many comparisons with each kind of rival a validation round has."""

    each: Annotated[int, Field(ge=1, le=50)] = 4


class EraseBody(Body):
    """Whether a rater's answers are kept under another pseudonym."""

    answers: Literal["keep", "erase"] = "keep"


class Done(BaseModel):
    """It is done, and on disk."""

    done: Literal[True] = True


class Progress(BaseModel):
    """How far the rater is."""

    answered: int
    more: int | None


class Screen(BaseModel):
    """What a rater sees now."""

    state: Literal["question", "enough", "paused"]
    progress: Progress
    last: int | None
    message: str = ""
    question: dict[str, Any] | None = None


class Link(BaseModel):
    """A rater's link, which is told only once; everything after the # stays in the browser."""

    rater: str
    link: str


class ErrorText(BaseModel):
    """What went wrong, for programs and for people."""

    code: str
    message: str


class Failure(BaseModel):
    """An error."""

    error: ErrorText


#: Responses that every path may give.
FAILURES: dict[int | str, dict[str, Any]] = {
    400: {"model": Failure, "description": "no JSON"},
    401: {"model": Failure, "description": "no token, or one that is nobody's"},
    403: {"model": Failure, "description": "not allowed with this token"},
    404: {"model": Failure, "description": "there is no such thing"},
    409: {"model": Failure, "description": "it does not fit what happened before"},
    413: {"model": Failure, "description": "too large"},
    422: {"model": Failure, "description": "not as described"},
    503: {"model": Failure, "description": "the study's storage does not answer"},
}
