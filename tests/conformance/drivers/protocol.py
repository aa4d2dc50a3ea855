"""The protocol of the conformance suite, for drivers in Python: a JSON request a line in, a JSON answer a line out."""

import json
import os
import sys
import tempfile

OUT = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)  # what packages print is no answer
os.chdir(tempfile.mkdtemp())


def serve(name, version, **functions):
    """Answer each request by the function for its kind; a kind without one is not supported."""
    functions["hello"] = lambda _: {"name": name, "version": version}
    for line in sys.stdin:
        request = json.loads(line)
        answer = functions[request["kind"]](request)
        print(json.dumps({"id": request["id"], **answer}), file=OUT, flush=True)


def refused(fault):
    """Return the answer for an output that the program refuses."""
    return {"valid": False, "reason": f"{type(fault).__name__}: {fault}"[:300]}


def only_code(_request):
    """Answer for a program whose rubrics stand in Python code, not in files."""
    return {"unsupported": "rubrics are Python code"}
