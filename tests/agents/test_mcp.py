"""The tools for coding agents: what they answer is what the commands report, and they stay in their folders."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import commands
import jsonschema
import pytest
from cases import read_cases
from lint_command import BAD, GOOD, OLD, call, call_after

from rubric_lint.agents.roots import Roots, ToolError
from rubric_lint.agents.tools import TOOLS
from rubric_lint.lint import engine
from rubric_lint.rules import BY_NAME

WRONG = read_cases(__file__)["wrong"]
FIXED = OLD.replace("description", "expected_outcome")
OUTPUTS = [{"id": "1", "output": {"checks": [{"id": "a", "satisfied": True, "reasoning": "It does."}]}}, "no JSON"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "secret.yaml").write_text(BAD, "utf-8")
    monkeypatch.chdir(root)
    for name, text in (("bad.yaml", BAD), ("good.yaml", GOOD), ("old.yaml", OLD)):
        Path(name).write_text(text, "utf-8")
    return root


def answer_call(tool, given, roots=(".",)):
    from rubric_lint.agents import server  # noqa: PLC0415  (takes a second, which only these tests shall take)

    return server.answer_call(Roots(roots), tool, given)


def ask(tool, **given):
    """The text and the data that a tool answers."""
    answer = answer_call(tool, given)
    json.dumps(answer.data)
    return answer.text, answer.data


def refusal(tool, **given):
    with pytest.raises(ToolError) as refused:
        answer_call(tool, given)
    return str(refused.value)


@pytest.mark.slow
def test_lint_reports_what_the_command_reports():
    text, data = ask("lint")
    assert data == json.loads(call("--format=json")[0])
    assert text == call("--format=agent")[0]


@pytest.mark.slow
def test_lint_of_a_text_reports_what_the_command_reports_of_stdin():
    text, data = ask("lint", text=BAD, name="sub/x.yaml")
    command = ("-", "--stdin-filename=sub/x.yaml")
    assert data == json.loads(call("--format=json", *command, stdin=BAD.encode())[0])
    printed = call("--format=agent", *command, stdin=BAD.encode())[0]
    assert text == printed.replace("fix - --stdin-filename sub/x.yaml", "fix sub/x.yaml")


@pytest.mark.slow
def test_settings_comments_and_options_apply():
    Path("rubric-lint.toml").write_text('ignore = ["overlap"]\nexclude = ["old.yaml"]\n', "utf-8")
    assert ask("lint")[1] == json.loads(call("--format=json")[0])
    assert ask("lint", text=BAD, name="bad.yaml")[1]["findings"] == []
    Path("rubric-lint.toml").unlink()
    assert ask("lint", ignore=["overlap"], paths=["bad.yaml"])[1]["findings"] == []
    assert {finding["rule"] for finding in ask("lint", select=["overlap"])[1]["findings"]} == {"overlap"}
    Path("rubric-lint.toml").write_text('baseline = "known.json"\n', "utf-8")
    assert call("--write-baseline")[2] == 0
    assert ask("lint")[1] == json.loads(call("--format=json")[0])
    assert (ask("lint")[1]["findings"], ask("lint")[1]["summary"]["known"]) == ([], 2)
    Path("rubric-lint.toml").write_text("selct = []\n", "utf-8")
    assert "selct" in refusal("lint")


@pytest.mark.slow
def test_near_misses_are_told_beside_rubrics():
    Path("a.yaml").write_text("rubric: [{criterion: a}]\n", "utf-8")
    Path("b.yaml").write_text("rubrics: [{id: a, expected_outcome: Says why}]\n", "utf-8")
    for tool in ("lint", "fix", "show"):
        assert "a.yaml:1:1: no" in ask(tool, paths=["a.yaml", "b.yaml"])[0]
    text = Path("a.yaml").read_text("utf-8")
    assert "c.yaml:1:1: not checked: " in ask("fix", text=text, name="c.yaml")[0]
    assert ask("lint", paths=["."])[1]["unread"][0]["file"] == "a.yaml"


def test_fix_writes_nothing_unless_it_is_told_to(said):
    text, data = ask("fix", paths=["old.yaml"])
    report = {name: data[name] for name in ("version", "summary", "files")}
    assert report == json.loads(call("--check", "--format=json", "old.yaml", program="rubric-fix")[0])
    said(text, json.dumps(data["proofs"], indent=1))
    assert (data["written"], Path("old.yaml").read_text("utf-8")) == (False, OLD)
    assert (ask("fix", write=True)[1]["written"], Path("old.yaml").read_text("utf-8")) == (True, FIXED)


def test_fix_of_a_text_returns_it():
    assert ask("fix", text=OLD, name="x.yaml")[1]["proofs"][0]["text"] == FIXED
    assert ask("fix", text=FIXED, name="x.yaml")[1]["proofs"] == []
    assert ask("fix", text=BAD, name="x.yaml", unsafe=True)[1]["proofs"] == []
    changed = ask("fix", text=BAD, name="x.yaml", choose=["upper-keeps"])[1]["proofs"][0]
    assert changed["data"] == {"added": [], "removed": [], "changed": ["/rubrics/0/score_ranges/0/score_range/1"]}
    assert not changed["meaning_proven_unchanged"]
    assert refusal("fix", text=OLD, name="x.yaml", write=True).startswith("`write` needs `paths`")


@pytest.mark.parametrize("text", [OLD, GOOD, "a: 1\n", "rubrics:\n- expected_outcome: ["])
def test_fix_of_a_text_reports_what_the_command_reports_of_stdin(text):
    said, data = ask("fix", text=text, name="x.yaml")
    report = {name: data[name] for name in ("version", "summary", "files")}
    args = ("--check", "--stdin-filename=x.yaml", "-")
    out, err, _ = call(*args, "--format=json", stdin=text.encode(), program="rubric-fix")
    assert report == json.loads(out)
    assert ("Nothing fixed in 1 file." in said) == ("[" in text)
    assert [line.removeprefix("rubric-fix: ") for line in err.splitlines()] == [
        line for line in said.splitlines() if "not fixed" in line
    ]


def test_rules_are_listed_and_explained():
    assert ask("rules")[1]["rules"] == json.loads(call("explain", "--format=json")[0])
    assert {ask("explain", rule=name)[0] == call("explain", name)[0] for name in list(BY_NAME)[:3]} == {True}


def test_show_reports_what_the_command_reports():
    text, data = ask("show")
    assert data == json.loads(call("show", "--format=json")[0])
    assert text == call("show")[0]
    assert ask("show", text=GOOD, name="good.yaml") == ask("show", paths=["good.yaml"])
    assert ask("show", text="", name="x.yaml")[1]["files"][0]["rubrics"] == []


def test_score_reports_what_the_command_reports():
    Path("outputs.jsonl").write_text("".join(json.dumps(output) + "\n" for output in OUTPUTS[:1]), "utf-8")
    text, data = ask("score", rubric="good.yaml", outputs=OUTPUTS)
    command = ("good.yaml", "outputs.jsonl", "--format=json")
    assert ask("score", rubric="good.yaml", outputs_path="outputs.jsonl")[1] == json.loads(
        call(*command, program="rubric-score")[0]
    )
    assert [result.get("verdict") for result in data["results"]] == ["pass", None]
    assert (data["totals"]["pass"], data["totals"]["invalid"]) == (1, 1)
    assert "no JSON object" in text
    assert ask("score", rubric_text=GOOD, name="good.yaml", outputs=OUTPUTS)[1] == data


def test_diff_reports_what_the_command_reports():
    Path("new.yaml").write_text(GOOD.replace("result", "outcome"), "utf-8")
    text, data = ask("diff", old="good.yaml", new="new.yaml")
    assert data == json.loads(call("diff", "good.yaml", "new.yaml", "--format=json")[0])
    assert text == call("diff", "good.yaml", "new.yaml")[0]
    assert ask("diff", old="good.yaml", new_text=GOOD, name="good.yaml")[1]["changes"] == []
    commands.commit_all()
    found = ask("diff", old="HEAD:good.yaml", new="new.yaml")[1]["changes"]
    assert [each["old_place"]["file"] for each in found] == ["HEAD:good.yaml"]


def test_init_writes_only_what_is_not_there():
    text, data = ask("init", shape="levels", suite=True)
    assert data == {"file": None, "written": False, "text": text}
    assert ask("lint", text=text, name="x.yaml")[1]["findings"] == []
    assert ask("init", path="new.json")[1]["written"]
    assert json.loads(Path("new.json").read_text("utf-8"))["rubrics"]
    assert refusal("init", path="new.json") == "new.json: already exists; name another file"
    assert refusal("init", path="none/new.yaml") == "none/new.yaml: No such file or directory"


def test_version_3_is_started_and_keeps_its_schema_when_fixed_and_shown():
    text, _ = ask("init", shape="scale")
    assert ask("lint", text=text, name="x.rubric.yaml")[1]["findings"] == []
    old = text.replace("expected_outcome", "description")
    (proof,) = ask("fix", text=old, name="x.rubric.yaml")[1]["proofs"]
    assert (proof["text"], proof["meaning_proven_unchanged"]) == (text, True)
    (file,) = ask("show", text=text, name="x.rubric.yaml")[1]["files"]
    assert [(rubric["version"], rubric["scale"]) for rubric in file["rubrics"]] == [("v3", [1, 5])]


@pytest.mark.parametrize("tool", WRONG)
def test_a_wrong_call_is_told_in_a_line(tool, said, tmp_path):
    Path("link.yaml").symlink_to("../secret.yaml")
    Path("binary.yaml").write_bytes(bytes(range(256)))
    for given in WRONG[tool]:
        text = {"text": GOOD} if "text" in given else {}
        told = refusal(tool, **{**given, **text})
        said([f"{given}", told.replace(os.path.realpath(tmp_path), str(tmp_path))])
    assert Path("../secret.yaml").read_text("utf-8") == BAD


def test_a_text_that_is_too_long_is_refused(said):
    said(refusal("lint", text="x" * 1_000_001, name="x.yaml"))


def test_a_link_in_a_folder_that_leaves_it_is_not_followed(said):
    commands.run_git("init", "-q", "..")  # the commands follow links in their repository
    Path("link.yaml").symlink_to("../secret.yaml")
    text, data = ask("lint")
    assert {finding["file"] for finding in data["findings"]} == {"bad.yaml", "old.yaml"}
    left = text.splitlines(keepends=True)[-1]
    assert left.startswith("link.yaml: ")
    said(left)
    assert text.endswith(left)
    assert ask("show")[0].endswith(left)
    text, data = ask("fix", unsafe=True, write=True)
    assert (text.endswith(left), Path("../secret.yaml").read_text("utf-8")) == (True, BAD)


@pytest.fixture
def repository():
    """A Git repository with a file beside the root, whose only folder is the current one."""
    commands.commit_all("..")


@pytest.mark.usefixtures("repository")
@pytest.mark.parametrize(
    "name", ["HEAD:secret.yaml", "HEAD:../secret.yaml", ":0:secret.yaml", "HEAD^{/:root/x|.*}:secret.yaml"]
)
def test_a_revision_holds_files_outside_that_are_not_read(name):
    assert refusal("diff", old=name, new="good.yaml").startswith("../secret.yaml: is outside ")
    assert refusal("score", rubric=name, outputs=[{}]).startswith("../secret.yaml: is outside ")


@pytest.mark.usefixtures("repository")
@pytest.mark.parametrize(
    "name", ["HEAD:root/good.yaml", "HEAD:./good.yaml", "HEAD:../root/good.yaml", ":0:root/good.yaml", ":./good.yaml"]
)
def test_a_revision_is_read_however_git_names_the_file(name):
    assert ask("diff", old=name, new="good.yaml")[1]["changes"] == []


@pytest.mark.skipif(os.name == "nt", reason="no file of Windows has such a name")
@pytest.mark.parametrize("tool", ["lint", "fix", "show"])
def test_a_name_cannot_break_a_line(tool, said):
    commands.run_git("init", "-q", "..")  # the commands follow links in their repository
    Path("a\n::error::x.yaml").symlink_to("../secret.yaml")
    left = ask(tool)[0].splitlines()[-1]
    assert left.startswith(r"a\n::error::x.yaml: ")
    said(left)
    assert refusal(tool, paths=["a\n::error::x.yaml"]).startswith(r"a\n::error::x.yaml: is outside ")


def _crash(rubric):
    if rubric.criteria[0].outcome == "crash now":
        raise ZeroDivisionError("no rule is perfect")
    return iter(())


@pytest.mark.parametrize("tool", ["lint", "fix", "show"])
def test_a_crash_names_its_file_and_is_never_a_clean_answer(tool, monkeypatch, said):
    known = engine.checks_for
    monkeypatch.setattr(engine, "checks_for", lambda signs: (*known(signs), ("broken", _crash)))
    Path("crash.yaml").write_text(OLD.replace("States the result.", "crash now"), "utf-8")
    told = refusal(tool, paths=["crash.yaml"])
    said(told)
    text = ask(tool)[0]
    assert text.splitlines()[-1] == told
    assert "because rubric-lint crashed" in text
    assert refusal(tool, text=Path("crash.yaml").read_text("utf-8"), name="x.yaml").endswith(
        told.removeprefix("crash.yaml: ")
    )


def test_other_roots_are_allowed_where_they_are_named():
    answer = answer_call("lint", {"paths": ["../secret.yaml"]}, [".", ".."])
    assert answer.data["summary"]["errors"] == 1


@pytest.mark.parametrize("text", ["\ud800", "\0", "", "a: &a [*a]", "[" * 10_000, "{" * 3, "rubrics:\n- \u202e: 1\n"])
def test_no_text_is_too_strange(text):
    assert ask("lint", text=text, name="x.yaml")[1]["version"] == 1
    assert ask("fix", text=text, name="x.yaml")[1]["version"] == 1


def test_half_characters_do_not_leave_the_server():
    """They could not be sent, and the attempt would end it."""
    record = r'{"id": "\ud800", "output": {"checks": [{"id": "a", "satisfied": true}]}}'
    Path("outputs.jsonl").write_text(record, "utf-8")
    answers = [ask("score", rubric="good.yaml", outputs_path="outputs.jsonl")]
    if os.name != "nt":
        Path(os.fsdecode(b"\xff.yaml")).write_text(OLD, "utf-8")
        answers += [ask("lint"), ask("fix"), ask("show")]
    for text, data in answers:
        text.encode()
        json.dumps(data, ensure_ascii=False).encode()


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_each_tool_says_what_it_takes(tool):
    jsonschema.Draft202012Validator.check_schema(tool.schema)
    assert all(each["description"] for each in tool.schema["properties"].values())
    assert tool.writes == ("write" in tool.schema["properties"] or tool.name == "init")
    if tool.report:
        given = {"old": "good.yaml", "new": "old.yaml"} if tool.name == "diff" else {}
        assert "$ref" not in str(tool.output_schema).replace("'$ref': '#", "")
        jsonschema.validate(ask(tool.name, **given)[1], tool.output_schema)


def test_import_makes_a_rubric_of_a_table():
    table = "Bonus,outcome\na,Names a source for each number\n"
    said, data = ask("import", file_text=table, name="r.csv", map={"Bonus": "id"})
    text = "rubrics:\n  - id: a\n    expected_outcome: Names a source for each number\n"
    assert (data["text"].partition("\n")[2], data["messages"], said) == (text, [], data["text"])
    Path("r.csv").write_text(table.replace("Bonus", "id"), "utf-8")
    assert ask("import", file="r.csv")[1]["text"] == data["text"]
    said, data = ask("import", file_text=table, name="r.csv")
    assert (data["text"], [message["kind"] for message in data["messages"]]) == (None, ["error"])
    assert said.startswith("r.csv:1:1: column `Bonus` may bear on the score")
    told = "--map: no table has a column `x`"
    assert refusal("import", file_text=table.replace("Bonus", "id"), name="r.csv", map={"x": "id"}) == told
    assert refusal("import", file="../r.csv").startswith("../r.csv: is outside ")


def test_without_the_package_the_command_says_how_to_install_it(said):
    said(call_after("import sys; sys.modules['mcp'] = None\n", "mcp"))


CALLS = [
    ("lint", {}, False),
    ("lint", {"text": BAD, "name": "x.yaml"}, False),
    ("fix", {"paths": ["old.yaml"]}, False),
    ("explain", {"rule": "overlap"}, False),
    ("rules", {}, False),
    ("show", {"paths": ["good.yaml"]}, False),
    ("score", {"rubric": "good.yaml", "outputs": OUTPUTS}, False),
    ("diff", {"old": "good.yaml", "new": "old.yaml"}, False),
    ("import", {"file_text": "id,outcome\na,Names a source\n", "name": "r.csv"}, False),
    ("init", {}, False),
    ("lint", {"paths": ["../secret.yaml"]}, True),
    ("lint", {"text": "x" * 20_000_000, "name": "x.yaml"}, True),
    ("lint", {"paths": 3}, True),
    ("no-such-tool", {}, True),
    ("explain", {"rule": "overlap"}, False),
]


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_official_client_gets_the_same_answers_from_a_process(mode):
    import anyio  # noqa: PLC0415
    from mcp import Client, StdioServerParameters  # noqa: PLC0415

    program = str(Path(sys.executable).with_name("rubric-lint"))
    server = StdioServerParameters(command=program, args=["mcp"], cwd=Path.cwd())

    async def talk():
        async with Client(server, mode=mode) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == [tool.name for tool in TOOLS]
            for name, given, is_wrong in CALLS:
                result = await client.call_tool(name, given)
                assert (name, result.is_error) == (name, is_wrong)
                told = refusal(name, **given) if is_wrong else ask(name, **given)[0]
                assert [each.text for each in result.content] == [told]
                assert result.structured_content == (None if is_wrong else ask(name, **given)[1])

    anyio.run(talk)


@pytest.mark.slow
def test_relative_paths_start_at_the_first_root_and_all_roots_are_allowed():
    import anyio  # noqa: PLC0415
    from mcp import Client, StdioServerParameters  # noqa: PLC0415

    program = str(Path(sys.executable).with_name("rubric-lint"))
    Path("elsewhere").mkdir()
    Path("suites").mkdir()
    Path("old.yaml").rename("suites/old.yaml")
    arguments = ["mcp", "--root", "suites", "--root", "elsewhere"]
    paths = {"old.yaml": False, "../elsewhere": False, "../bad.yaml": True, str(Path("bad.yaml").resolve()): True}

    async def talk():
        async with Client(StdioServerParameters(command=program, args=arguments, cwd=Path.cwd())) as client:
            return {path: (await client.call_tool("lint", {"paths": [path]})).is_error for path in paths}

    assert anyio.run(talk) == paths


SLOW = """
import pathlib, time
import rubric_lint.agents.server as server
from rubric_lint.agents.roots import ToolAnswer

def answer(roots, name, given):
    with open("turns", "a") as turns:
        turns.write(f"begin {name}\\n")
        turns.flush()
        while name == "lint" and not pathlib.Path("go").exists():
            time.sleep(0.01)
        turns.write(f"end {name}\\n")
    return ToolAnswer(name, {})

server.answer_call = answer
"""


class Server:
    """A server that gets messages as bytes, so that they need not be right."""

    def __init__(self, before=""):
        command = commands.command("rubric-lint", "mcp", before=before)
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
        self.send({"id": 0, "method": "initialize", "params": client})
        self.read()
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        data = message if isinstance(message, bytes) else json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(data + b"\n")
        self.process.stdin.flush()

    def call(self, number, tool):
        self.send({"id": number, "method": "tools/call", "params": {"name": tool, "arguments": {}}})

    def read(self):
        return json.loads(self.process.stdout.readline())


@pytest.fixture
def serve():
    servers = []

    def start(before=""):
        servers.append(Server(before))
        return servers[-1]

    yield start
    for server in servers:
        server.process.communicate(timeout=60)


@pytest.mark.slow
def test_a_request_that_cannot_be_read_is_answered(serve):
    """A client would otherwise wait until its time limit."""
    server = serve()
    call = b'{"jsonrpc": "2.0", "id": %s, "method": "tools/call", "params": {"name": "lint", "arguments": %s}}'
    server.send(call % (b"1", rb'{"text": "\ud800", "name": "x.yaml"}'))
    server.send(call % (b'"two"', b'{"text": ' + b"[" * 500 + b"]" * 500 + b"}"))
    server.send(b"no JSON")
    server.send(b"")
    server.send(b"[" * 100_000)
    server.call(3, "rules")
    answers = [server.read() for _ in range(3)]
    begin = "rubric-lint: the request is not JSON that can be read: "
    assert [answer["id"] for answer in answers] == [1, "two", 3]
    assert [answer["error"]["message"].partition(begin)[2][:10] for answer in answers[:2]] == [
        "unexpected",
        "recursion ",
    ]


@pytest.mark.slow
def test_a_cancelled_call_ends_before_the_next_begins_and_one_in_the_queue_never_begins(serve):
    server = serve(SLOW)
    server.call(1, "lint")
    while not Path("turns").exists():
        time.sleep(0.01)
    for number, tool in ((2, "fix"), (3, "rules")):
        server.call(number, tool)
    for number in (1, 2):
        server.send({"method": "notifications/cancelled", "params": {"requestId": number}})
    server.call(4, "show")
    server.send({"id": 5, "method": "ping"})
    answers = [server.read()]
    Path("go").write_text("", "utf-8")
    answers += [server.read() for _ in range(2)]
    assert [answer["id"] for answer in answers] == [5, 3, 4]
    begun = [line for tool in ("lint", "rules", "show") for line in (f"begin {tool}", f"end {tool}")]
    assert Path("turns").read_text("utf-8").splitlines() == begun
