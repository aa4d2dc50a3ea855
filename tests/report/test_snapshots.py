"""What the surfaces of the tools say, word for word: `snapshots/` has one file for each surface.

`make renew` writes them anew; read the diff. Other tests assert codes, places and values.
"""

import re
import shutil
from pathlib import Path

import pytest
import saying
from called import call
from saying import FOLDER, INPUTS, SNAPSHOTS

from rubric_lint.formats.agentv.messages import MESSAGES
from rubric_lint.lint.engine import lint
from rubric_lint.lint.run.summary import Summary
from rubric_lint.report import REPORTERS, Style
from rubric_lint.rules import RULES
from rubric_lint.version import __version__


def test_messages(snapshot):
    lines = [f"{rule.name}.{code}: {text}\n" for rule in RULES for code, text in rule.messages.items()]
    lines += [f"agentv.{code}: {text}\n" for code, text in MESSAGES.items()]
    snapshot("messages.txt", "".join(lines))


@pytest.mark.parametrize("form", ["full", "json", "agent", "sarif"])
def test_reports(form, snapshot, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    pieces, total = [], Summary()
    report = REPORTERS[form](pieces.append, Style())
    for path in INPUTS:
        result = lint(path.name, path.read_bytes())
        report.add(result)
        total = total.plus(Summary.of(result))
    report.end(total)
    text = "".join(pieces).replace(tmp_path.as_uri(), "file:///repository").replace(__version__, "VERSION")
    # The pages of the rules stand in the file already, and the fingerprints depend on nothing but what is here.
    snapshot(f"{form}.txt", re.sub(r'"help": \{"text": .*?\}, "helpUri"', '"helpUri"', text))


def test_the_page_of_scores(snapshot, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    for name in ("support.rubric.yaml", "outputs.jsonl"):
        shutil.copy(SNAPSHOTS / "html" / name, name)
    call("rubric-score --report page.html support.rubric.yaml outputs.jsonl")
    text = Path("page.html").read_text("utf-8").replace(__version__, "VERSION")
    # The script, the styles and their digest, and the packed answers change with each edit, and say nothing.
    text = re.sub(r"(<(script|style)\b[^>]*>).*?(</\2>)", r"\1...\3", text, flags=re.DOTALL)
    snapshot("html/page.txt", re.sub(r"'sha256-[^']*'", "'sha256-...'", text))


def test_each_part_of_what_is_said_belongs_to_a_test():
    for path in FOLDER.iterdir():
        (file,) = path.parents[2].glob(f"*/test_{path.stem}.py")
        asking = {*re.findall(r"(?ms)^(?:async )?def (test_\w+)\([^)]*\bsaid\b", file.read_text("utf-8"))}
        tests = {re.match(r"\w+", name)[0] for name in saying.read(path)}
        assert (path.stem, tests - asking) == (path.stem, set())
