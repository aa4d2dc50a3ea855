"""Turn the results that providers return for batches into records."""

import json
from collections.abc import Iterator

from rubric_lint.outputs.batch_replies import find_fault, read_reply_of
from rubric_lint.outputs.blocks import Block, Entry, join_entries
from rubric_lint.outputs.decoding import read_entry
from rubric_lint.outputs.extract import OutputError, refuse_flaws
from rubric_lint.outputs.reply import UnreadableError, shorten

_SIGN = b'"custom_id"'
_HELD = frozenset({"response", "result", "error"})


def is_batch_result(head: bytes) -> bool:
    """Return whether the first line of a file is the result of a batch, of OpenAI's form or of Anthropic's."""
    line = head.lstrip().partition(b"\n")[0]
    if _SIGN not in line:
        return False
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and not _HELD.isdisjoint(found) and "output" not in found


class BatchEntries:
    """A part whose entries are results of a batch; others stay as they are."""

    def __init__(self, block: Block) -> None:
        self._block = block

    def blocks(self) -> Iterator[Block]:
        """Yield the records."""
        return join_entries(_read(*entry) for entry in self._block.split())


def _read(line: int, text: bytes | OutputError) -> Entry:
    """Return a result as a record: its `custom_id` is the `id`; `judge` has the model, and why there is no output."""
    if isinstance(text, OutputError):
        return line, text
    try:
        result = read_entry(text)
        refuse_flaws(result)
    except OutputError:  # the scorer says what is wrong with it
        return line, text
    if "custom_id" not in result or _HELD.isdisjoint(result):
        return line, text
    output, model = "", None
    fault: str | None = find_fault(result)
    if not fault:
        try:
            output, fault, _, model = read_reply_of(result)
        except UnreadableError as unreadable:
            fault = shorten(str(unreadable))
    judge = {**({"model": model} if model else {}), **({"fault": fault} if fault else {})}
    record = {"id": result["custom_id"], "output": output, **({"judge": judge} if judge else {})}
    return line, json.dumps(record).encode()
