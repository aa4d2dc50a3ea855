"""Every command that the tool prints runs as it is printed, where it was printed."""

import ast
import contextlib
import json
import os
import random
import re
import shlex
import shutil
import sys
import tomllib
from functools import cache
from html import unescape
from pathlib import Path

import click
import commands
import played_judges as played
import pytest
from called import PATHS
from cases import read_cases
from chat_server import Response, completion, serving

from rubric_lint.editor.answers.commands import RUN_TESTS, plan_call
from rubric_lint.model import suggest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "rubric_lint"
TABLES = read_cases(__file__)
_COMMAND = r"rubric-(?:lint|fix|score|test)"
_INLINE = re.compile(rf"`({_COMMAND} [^`]+)`")
_OWN_LINE = re.compile(rf"^(?:Next: |To ask again: | +)({_COMMAND} .*)$", re.MULTILINE)


def list_inline(text):
    """The commands in backticks, without the ends of lines that prose has inside them."""
    return [" ".join(found.split()) for found in _INLINE.findall(text)]


def list_commands(text):
    """The commands that a program prints in backticks or on a line of their own, in their order, each once."""
    found = [(match.start(1), match[1]) for pattern in (_INLINE, _OWN_LINE) for match in pattern.finditer(text)]
    return list(dict.fromkeys(command for _, command in sorted(found)))


BUILDERS = {"suggest", "format_command", "repeat_command", "name_in"}
"""The functions that build what is suggested."""

WORDINGS = "Treats the refund well enough", "Names the refund period of 30 days"
"""What a judge reads differently each time, and what it does not."""


def reword(asked):
    """Judge at random where the wording is vague, and propose the clear one."""
    system = asked.body["messages"][0]["content"]
    if system.startswith("You reword"):
        return completion(json.dumps({"outcome": WORDINGS[1], "parts": []}))
    drawn = random.Random(f"{asked.answer}{asked.before}")  # noqa: S311
    is_met = "period=1" in asked.answer
    if WORDINGS[0] in system:
        is_met ^= drawn.random() < 0.25
    return completion(json.dumps({"checks": [{"id": "period", "reasoning": "so", "satisfied": is_met}]}))


def score_bands(asked):
    """Give scores within the bands of a rubric."""
    score = 9 if "period=1" in asked.answer else 2
    return completion(json.dumps({"checks": [{"id": "period", "reasoning": "so", "score": score}]}))


WRONG = completion('{"checks": []}')
MODELS = {
    "rewording": reword,
    "scores": score_bands,
    "well": played.play(played.judge_well),
    "leniently": played.play(played.judge_leniently),
    "invalid": lambda _: WRONG,
    "refused": lambda _: Response({"error": {"message": "no such key"}}, 401),
}


@cache
def find_sites():
    """Where the package builds a suggestion: the file and the lines of each call, and the call; parses all modules."""
    sites = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in BUILDERS:
                sites[str(path), node.lineno, node.end_lineno] = node
    return sites


def find_command(words):
    """The command that words call, and the words that it gets."""
    path = words[0]
    command = PATHS[path]
    rest = words[1:]
    while isinstance(command, click.Group):
        if rest and f"{path} {rest[0]}" in PATHS:
            path = f"{path} {rest[0]}"
            command, rest = PATHS[path], rest[1:]
        elif not hasattr(command, "default"):  # a group that only names its commands
            return click.Command(path), []
        else:
            command = command.default
    return command, rest


def parse(line):
    """What is wrong with the options of a command line; nothing is run."""
    command, rest = find_command(shlex.split(line.partition(" > ")[0]))
    try:
        command.make_parser(click.Context(command)).parse_args(rest)
    except click.UsageError as wrong:
        return wrong.format_message()
    return ""


@pytest.mark.repository
def test_each_suggestion_is_of_a_command_and_options_that_there_are():
    wrong = []
    for (path, line, _), call in find_sites().items():
        if call.func.id != "suggest" or not isinstance(call.args[0], ast.Constant):
            continue
        known = {name for param in PATHS[f"rubric-lint {call.args[0].value}"].params for name in param.opts}
        given = {f"--{keyword.arg.replace('_', '-')}" for keyword in call.keywords if keyword.arg}
        wrong += [f"{path}:{line}: {name}" for name in sorted(given - known)]
    assert wrong == [], "\n".join(wrong)


PAGES = [
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "vscode/README.md", "vscode/package.json")),
    *sorted(ROOT.glob("docs/**/*.md")),
    *sorted(ROOT.glob("skills/**/*.md")),
    *sorted(ROOT.glob("schemas/*/*.json")),
    *sorted(ROOT.glob("rubric_lint/**/*.md")),
    *sorted(ROOT.glob("tests/snapshots/**/*.txt")),
]


@pytest.mark.repository
@pytest.mark.slow
def test_each_command_on_a_page_and_in_a_snapshot_can_be_parsed():
    wrong = []
    for page in PAGES:
        for line in list_inline(page.read_text("utf-8")):
            fault = parse(line)
            if fault and not fault.endswith("requires an argument."):  # prose that names an option
                wrong.append(f"{page.relative_to(ROOT)}: {line}: {fault}")
    assert wrong == [], "\n".join(wrong)


def test_names_are_quoted_and_options_left_out():
    files = ("a b.yaml", "it's.yaml", "-x.yaml", "-", "<stdin>", "\x1b.yaml")
    options = {"map": ["a=b c", "d=e"], "model": "MODEL", "again": True, "force": False, "config": None, "labels": ()}
    words = ["rubric-lint", "judge", "a b.yaml", "it's.yaml", "./-x.yaml", "-", "-", "FILE"]
    words += ["--map", "a=b c", "--map", "d=e", "--model", "MODEL", "--again"]
    assert shlex.split(suggest.suggest("judge", *files, **options)) == words


@pytest.mark.parametrize(
    ("text", "file", "named"),
    [
        ("run `rubric-lint adopt FILE --scale 1-5`", "a b.yaml", "run `rubric-lint adopt 'a b.yaml' --scale 1-5`"),
        ("name FILE, or `FILE`", "a.yaml", "name FILE, or `FILE`"),
        ("run `rubric-lint adopt FILE`", "<stdin>", "run `rubric-lint adopt FILE`"),
    ],
)
def test_a_file_is_named_in_commands_only_and_can_be_left_out_again(text, file, named):
    assert (suggest.name_in(text, file), suggest.unname_in(named, file)) == (named, text)


def test_what_is_missing_is_installed_as_the_package_declares_it():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert {extra: [requirement] for extra, (_, requirement) in suggest.EXTRAS.items()} == declared


_ON_PAGES = re.compile(r"(?:<code[^>]*>|^)(rubric-lint [^<\n]*)", re.MULTILINE)


class Situation:
    """A folder with the files of a case, and what its programs print."""

    def __init__(self, folder, given, url):
        self.folder, self.given = folder, given
        variables = {"OPENAI_API_KEY": "x", "OPENAI_BASE_URL": url, "RUBRIC_LINT_CACHE_DIR": f"{folder}.cache"}
        self.environment = {**os.environ, **variables}
        for name, text in given.get("files", {}).items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(TABLES["TEXTS"].get(text, text), "utf-8")
        if "played" in given:
            self.play(**given["played"])
        if "judged" in given:
            self.judge(**given["judged"])

    def play(self, count, judge="", labels=0, answer="answer", samples=2, **more):
        """Write answers, what a judge says of them, and labels of the first of them."""
        cases = played.draw_cases(count)
        answers = played.write_answers(cases).replace('"answer"', f'"{answer}"')
        texts = {"refund.rubric.yaml": played.RUBRIC, "answers.jsonl": answers}
        if labels:
            texts["labels.jsonl"] = played.write_labels(cases[:labels], **{"chosen": "random", **more})
        if judge:
            texts["answers.judged.jsonl"] = played.record(cases, getattr(played, f"judge_{judge}"), samples)
        for name, text in texts.items():
            (self.folder / name).write_text(text, "utf-8")

    def judge(self, count, judge="same", people=("same",), lacks=(), blank=0, languages=("en",), recorded=0, twice=0):
        """Write answers of which two in five are bad, and what a judge and people say: the `same`, or `all` are good.

        People leave out the criteria that it `lacks`, and the last one in `blank` labels; they label some answers
        `twice`. Of some answers, the outputs are `recorded` in another file, and no others.
        """
        judged, labels = [], []
        for number in range(count):
            says = {"same": dict.fromkeys(played.CRITERIA, number % 5 > 1), "all": dict.fromkeys(played.CRITERIA, True)}
            about = {"answer": f"Text {played.spell(number)}", "language": languages[number % len(languages)]}
            output = played.to_output(says[judge])
            judged.append({"id": f"a{number}", **about, "output": output, "judge": {"model": "m"}})
            for rater, how in zip(("ann", "bob"), people, strict=False):
                label = {name: met for name, met in says[how].items() if name not in lacks}
                if number < blank:
                    del label[played.CRITERIA[-1]]
                labels.append({"id": f"a{number}", "rater": rater, "chosen": "random", **label})
                if number < twice:
                    labels.append({**labels[-1], "polite": not label["polite"]})
        files = {"answers.jsonl": judged, "labels.jsonl": labels}
        if recorded:
            files["recorded.jsonl"] = judged[:recorded]
            files["answers.jsonl"] = [{"id": each["id"], "answer": each["answer"]} for each in judged]
        for name, records in files.items():
            (self.folder / name).write_text("".join(f"{json.dumps(record)}\n" for record in records), "utf-8")
        (self.folder / "refund.rubric.yaml").write_text(played.RUBRIC, "utf-8")

    def run(self, line, folder):
        """Run a command line in a folder; return its exit code and all that it wrote, on pages too."""
        stdin = TABLES["TEXTS"].get(self.given.get("stdin"), "")
        done = commands.run(*shlex.split(line), cwd=folder, env=self.environment, stdin=stdin)
        pages = [unescape(page.read_text("utf-8")) for page in (*folder.glob("*.html"), *folder.glob("page.md"))]
        found = [each for page in pages for each in _ON_PAGES.findall(page)]
        return done.returncode, "\n".join([done.stdout, done.stderr, *(f"  {each}" for each in found)])

    def follow(self, line, chat):
        """Run a command, and then in a copy of its folder all that it prints; yield each with its exit code."""
        _, text = self.run(line, self.folder)
        chat.behave = MODELS[self.given.get("later", self.given.get("model", "well"))]
        copy = Path(f"{self.folder}.copy")
        shutil.copytree(self.folder, copy)
        for printed in list_commands(text):
            words = printed
            for name, value in self.given.get("reader", {}).items():
                words = words.replace(name, value)
            code, wrote = self.run(words.partition(" > ")[0], copy)
            yield code, printed, wrote
        shutil.rmtree(copy)


@contextlib.contextmanager
def recording(reached):
    """Keep where the package builds a suggestion that is made meanwhile."""
    quote = shlex.quote

    def record(word):
        frame = sys._getframe(1)
        while frame.f_code.co_filename == suggest.__file__ or frame.f_code.co_name in BUILDERS:
            reached.add((frame.f_code.co_filename, frame.f_lineno))
            frame = frame.f_back
        reached.add((frame.f_code.co_filename, frame.f_lineno))
        return quote(word)

    shlex.quote = record
    try:
        yield
    finally:
        shlex.quote = quote


ELSEWHERE = {"hover.py", "describing.py"}
"""Where `explain` is suggested for the rule of a finding, in an editor; and what `test_map.py` runs."""


def find_tests():
    """What an editor says where no file tests a rubric."""
    return plan_call(RUN_TESTS, "no such folder/a.rubric.yaml", "a")


@pytest.mark.slow
def test_every_command_that_is_printed_runs(tmp_path, said):
    reached, refused, lines = set(), [], []
    with recording(reached):
        for number, (name, given) in enumerate(TABLES["SITUATIONS"].items()):
            folder = tmp_path / str(number)
            folder.mkdir()
            with serving(MODELS[given.get("model", "well")]) as chat:
                situation = Situation(folder, given, chat.url)
                for setup in given.get("setup", ()):
                    situation.run(setup, folder)
                for line in given["runs"]:
                    lines += ["", f"{name}: $ {line}"]
                    for code, printed, wrote in situation.follow(line, chat):
                        lines.append(f"  {code}: {printed}")
                        if code not in {0, 1, 4}:
                            refused.append(f"{name}: $ {line}\n  {printed}\n  {code}: {wrote[-400:]}")
        refused += [line for line in list_commands(find_tests()) if parse(line)]
    assert refused == [], "\n".join(refused)
    said(*lines)
    unreached = [
        f"{path}:{first}"
        for path, first, last in find_sites()
        if not any((path, line) in reached for line in range(first, last + 1)) and Path(path).name not in ELSEWHERE
    ]
    assert unreached == [], "\n".join(unreached)
