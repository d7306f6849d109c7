"""A real experiment with a person."""

from prefopt.study.consistency import Diagnostics
from prefopt.study.create import create_study, load_study
from prefopt.study.question import Candidate, Query
from prefopt.study.raters import Rater
from prefopt.study.recommend import Recommendation
from prefopt.study.study import Study
from prefopt.study.validation import Validation

__all__ = [
    "Candidate",
    "Diagnostics",
    "Query",
    "Rater",
    "Recommendation",
    "Study",
    "Validation",
    "create_study",
    "load_study",
]
