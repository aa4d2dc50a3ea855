"""Assess a judge on public data, the nine questions of LLM-Rubric: `make public-data LLM_RUBRIC=FOLDER`.

FOLDER has the tables of https://github.com/microsoft/LLM-Rubric (MIT licence): what GPT-3.5 answered to each question
about each conversation, and what people did. Only figures are kept here, on the page. It also recomputes the published
error of the judge from the tables, which shows that they are read as their authors read them.
"""

import argparse
import csv
import json
import os
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from click.testing import CliRunner
from pages import renew_marked

from rubric_lint.cli.lint.lint import cli
from rubric_lint.rules.rows import find_row

PAGE = Path(__file__).parent.parent / "docs/explanation/measured.md"
VARIABLE = "LLM_RUBRIC"

TOPICS = {
    "Q0": "overall satisfaction",
    "Q1": "naturalness",
    "Q2": "grounding in sources",
    "Q3": "presence of citations",
    "Q4": "relevance of citations",
    "Q5": "choice of citations",
    "Q6": "no repetition",
    "Q7": "conciseness",
    "Q8": "efficiency",
}
"""The questions by their topics; each is answered with 1 to 4."""

_SUITE = "tests:\n" + "".join(
    f"  - id: {name}\n    rubrics:\n      - id: {name}\n        levels:\n"
    + "".join(f"          {level}: Answer {level} to the question about {topic}\n" for level in (1, 2, 3, 4))
    for name, topic in TOPICS.items()
)
_SETTINGS = "pass = 0.6\nborderline = 0.6\nignore = ['vague-outcome']\n"
"""With them an answer of 3 or 4 passes."""


class Set(NamedTuple):
    """Conversations: the starts of the names of both tables, and the published error and correlation on Q0, if any."""

    title: str
    judge: str
    people: str
    published: tuple[str, str] | None = None


SETS = (
    Set("Real conversations", "real_gpt", "real_human", ("1.201643", "0.140091")),
    Set("Synthetic conversations", "synth_gpt", "synth_human"),
)


def _read(folder: Path, start: str) -> list[dict[str, str]]:
    (path,) = (each for each in folder.rglob("*.tsv") if each.name.removeprefix("gpt-").startswith(start))
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream, delimiter="\t"))


def _read_judge(rows: Sequence[dict[str, str]]) -> dict[tuple[str, str], int]:
    """Return the judge's most likely answer to each question about each conversation."""
    return {
        (row["text_id"], row["criterion"]): max(range(1, 5), key=lambda level: float(row[f"answer{level}_prob"]))
        for row in rows
    }


def _read_people(rows: Sequence[dict[str, str]]) -> Iterator[tuple[str, str, str, int]]:
    """Yield conversation, question, person and answer; 0 stands for a question that does not apply."""
    for row in rows:
        for name in TOPICS:
            if row[name] and (value := int(float(row[name]))):
                yield row["text_id"], name, row["annotator_id"], value


def _assess(judged: dict[tuple[str, str], int], people: Sequence[tuple[str, str, str, int]]) -> list[dict[str, Any]]:
    def output(name: str, level: int) -> dict[str, Any]:
        return {"checks": [{"id": name, "level": level}]}

    results = [{"id": text, "rubric": name, "output": output(name, level)} for (text, name), level in judged.items()]
    labels = [
        {"id": text, "rubric": name, "rater": person, "chosen": "random", "output": output(name, level)}
        for text, name, person, level in people
    ]
    with TemporaryDirectory() as folder:
        for file, records in (("judged.jsonl", results), ("labels.jsonl", labels)):
            Path(folder, file).write_text("".join(json.dumps(each) + "\n" for each in records), "utf-8")
        Path(folder, "questions.yaml").write_text(_SUITE, "utf-8")
        Path(folder, "rubric-lint.toml").write_text(_SETTINGS, "utf-8")
        here = Path.cwd()
        os.chdir(folder)
        try:
            given = ["assess", "questions.yaml", "judged.jsonl", "--labels", "labels.jsonl", "--format", "json"]
            done = CliRunner().invoke(cli, given, catch_exceptions=False)
        finally:
            os.chdir(here)
    found: list[dict[str, Any]] = json.loads(done.stdout)["rubrics"]
    return found


def _say(found: dict[str, Any]) -> str:
    (criterion,) = found["criteria"]
    faults = [find_row(each["rule"]).finds for each in criterion["findings"]]
    return f"{criterion['standing']}" + (f": {'; '.join(dict.fromkeys(faults))}" if faults else "")


def _share(bounded: dict[str, Any] | None) -> str:
    if bounded is None or not bounded["n"]:
        return "none"
    return f"{bounded['x']} of {bounded['n']} ({bounded['low']:.0%} to {bounded['high']:.0%})"


def write_set(folder: Path, each: Set) -> Iterator[str]:
    """Yield the lines on one set of conversations."""
    judged = _read_judge(_read(folder, each.judge))
    people = list(_read_people(_read(folder, each.people)))
    pairs = [(judged[text, name], value) for text, name, _, value in people if name == "Q0" and (text, name) in judged]
    error = statistics.fmean((one - other) ** 2 for one, other in pairs) ** 0.5
    correlation = statistics.correlation(*zip(*pairs, strict=True))
    yield f"### {each.title}"
    yield ""
    figures = f"Error on Q0 (root mean square) {error:.6f}, Pearson's r {correlation:.6f}, {len(pairs):,} labels"
    yield f"{figures}; published: {each.published[0]} and {each.published[1]}." if each.published else f"{figures}."
    yield ""
    yield "| question | conversations with a label | answer | bad ones caught | good ones passed | the question |"
    yield "|---|---|---|---|---|---|"
    for found in _assess(judged, people):
        shares = f"{_share(found['bad_caught'])} | {_share(found['good_passed'])}"
        name = found["rubric"]
        yield f"| {name}, {TOPICS[name]} | {found['labelled']} | {found['answer']} | {shares} | {_say(found)} |"
    yield ""


def main() -> None:
    """Write the figures into the page."""
    parser = argparse.ArgumentParser(description="Write what assess says of public data.")
    parser.add_argument("folder", nargs="?", default=os.environ.get(VARIABLE), help=f"default: ${VARIABLE}")
    parser.add_argument("--print", action="store_true", help="print the figures instead")
    options = parser.parse_args()
    if not options.folder:
        parser.error(f"name the folder of the tables, or set {VARIABLE}")
    figures = "\n".join(line for each in SETS for line in write_set(Path(options.folder), each)).strip()
    if options.print:
        print(figures)
        return
    renew_marked(PAGE, "figures", figures)


if __name__ == "__main__":
    main()
