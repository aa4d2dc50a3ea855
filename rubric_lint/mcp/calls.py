"""Answer a call of a tool, and turn every error into one message."""

import gc
from collections.abc import Mapping
from typing import Any

from rubric_lint.mcp.answer import CRASHED, Answer
from rubric_lint.mcp.roots import Roots, ToolError
from rubric_lint.mcp.schemas import check_arguments
from rubric_lint.mcp.tools import BY_TOOL_NAME, Tool
from rubric_lint.messages import make_whole, point_to_known, visible, whole
from rubric_lint.project.settings import SettingsError
from rubric_lint.project.writing import WriteError
from rubric_lint.run.console import report_crash
from rubric_lint.run.given import UnusableError
from rubric_lint.scoring.loading import RubricError


def answer_call(roots: Roots, name: str, given: Mapping[str, Any]) -> Answer:
    """Return the answer of the tool `name` to some arguments, which are not checked yet.

    Raises:
        ToolError: for whatever is wrong; no other exception, so that no call ends the server.
    """
    try:
        tool = _find(name)
        check_arguments(given, tool.schema)
        text, data = tool.answer(roots, given)
        # Escapes in files and names that are not UTF-8 may hold half characters, which cannot be sent.
        return Answer(whole(text), make_whole(data))
    except (ToolError, RubricError, UnusableError, WriteError) as wrong:
        message = str(wrong)
    except SettingsError as wrong:
        message = "\n".join(wrong.lines)
    except OSError as wrong:
        reason = wrong.strerror or str(wrong)
        message = f"{wrong.filename}: {reason}" if wrong.filename else reason
    except Exception as fault:
        report_crash(fault)
        message = f"{CRASHED}: {type(fault).__name__}: {fault}"
    finally:
        gc.unfreeze()  # runs of the linter exempt from collection what they find, and this program does not end
    raise ToolError("\n".join(map(visible, message.split("\n"))))


def _find(name: str) -> Tool:
    if name not in BY_TOOL_NAME:
        raise ToolError(f"unknown tool `{name}`; {point_to_known(name, BY_TOOL_NAME)}")
    return BY_TOOL_NAME[name]
