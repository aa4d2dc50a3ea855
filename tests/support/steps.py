"""How much work something is, whatever else the computer does."""

import sys


def steps(task, *arguments):
    """How many instructions of Python something takes."""
    count = 0

    def trace(frame, event, _argument):
        nonlocal count
        frame.f_trace_opcodes = True
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        task(*arguments)
    finally:
        sys.settrace(before)
    return count
