"""Compile a rubric to SQL: a query that scores judge outputs in a database, with integer arithmetic.

The query decides which outputs are valid as `score` does, or says that it cannot: an output that it leaves `unread` has
no score, and `rubric-score` scores it.
"""

from rubric_lint.engines.sql.dialects import DIALECTS
from rubric_lint.engines.sql.query import compile_rubric

__all__ = ["DIALECTS", "compile_rubric"]
