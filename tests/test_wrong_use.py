"""Wrong use of every command: exit code 2, the option or file at fault named, nothing written and nothing asked."""

import shlex
from pathlib import Path

import pytest
from test_cli_help import call

RUBRIC = """\
rubrics:
  - id: accuracy
    score_ranges: {0: Contradicts the source, 5: Agrees with most of it, 9: Agrees with all of it}
"""
FILES = {
    "r.rubric.yaml": RUBRIC,
    "old.rubric.yaml": RUBRIC.replace("most", "half"),
    "bad.rubric.yaml": RUBRIC.replace("id: accuracy", "id: accuracy\n    weight: -1"),
    "fine.rubric.yaml": RUBRIC.replace("id: accuracy", "id: accuracy\n    weight: 1.2345678901234567890123")
    + "  - {id: b, weight: 2, score_ranges: {0: Is long, 5: Is short}}\n",
    "suite.yaml": "tests:\n  - {id: first, rubrics: [Names the year]}\n  - {id: Café, rubrics: [Names the place]}\n",
    "answers.jsonl": '{"id": "a", "answer": "So."}\n',
    "wrong.jsonl": '{"id": "a", "answer": "So."}\n{"id": "a"}\n',
    "outputs.jsonl": '{"id": "a", "output": {"checks": [{"id": "accuracy", "score": 9}]}}\n',
    "idless.jsonl": '{"output": {"checks": [{"id": "accuracy", "score": 9}]}}\n',
    "empty.jsonl": "",
    "r.csv": "id,expected_outcome\na,Names it\n",
    "r.rubric-test.yaml": "rubric: r.rubric.yaml\ntests:\n  - {id: a, answer: So., expect: {verdict: pass}}\n",
}
JUDGE = "rubric-score judge r.rubric.yaml answers.jsonl --base-url http://127.0.0.1:9/v1"
# The command line after its beginning, and what the message says, in parts.
WRONG = {
    "rubric-lint": r"""
        --exlpain overlap | unknown option `--exlpain`; did you mean `--explain`?
        --list-rules | unknown option `--list-rules`; did you mean `--rules`?
        --rule overlap | unknown option `--rule`; did you mean `--select`?
        --json | unknown option `--json`; did you mean `--format json`?
        -o a | unknown option `-o`; did you mean `--output`?
        --dry-run | unknown option `--dry-run`; did you mean `rubric-fix --diff`?
        convert --output a b | unknown option `--output`; did you mean `--output`?
        diff --format markdwon a b | --format | did you mean `markdown`?
        --select overlop | --select | did you mean `overlap`?
        --ignore overlap,qqq | --ignore | 'qqq' | rubric-lint --rules
        --explain mixin | --explain | did you mean `mixing`?
        --format xml | --format | 'xml' | full
        --rules --format=sarif | --rules supports only --format json
        --statistics --format=json | --statistics cannot be combined with --format json
        --config=x --isolated | --config cannot be combined with --isolated
        --stdin-filename=a.yaml | --stdin-filename requires the path -
        --select=overlap --ignore=weight,overlap | none would run
        --select untested | `untested` | rubric-test
        --select judged-constant r.rubric.yaml | `judged-constant` | rubric-lint --judged
        '' | a path is empty
        --select , | --select | empty
        --config= | --config is empty
        --output= | --output is empty
        --unsafe-fixes | --unsafe-fixes
        --choose add-band | --choose
        --fix --choose=ad-band | unknown choice 'ad-band'; did you mean `add-band`?
        --fix - | --fix
        --fail-on=x | rubric-lint [OPTIONS] | Try 'rubric-lint --help' | 'x' | --fail-on
        check --fail-on=x | rubric-lint check [OPTIONS] | Try 'rubric-lint check --help' | --fail-on
        --output none/x.sarif --fix | --output: none/x.sarif: the folder none does not exist
        --output r.csv/x.sarif --fix | --output: r.csv/x.sarif: r.csv is not a folder
        --output . --fix | --output: .: is a folder
        --output circle --fix | --output: circle: cannot be written
        --output r.rubric.yaml | --output: r.rubric.yaml contains rubrics and would be overwritten
        --output link.yaml --fail-on=never . | --output: link.yaml contains rubrics
        --config mine.toml | mine.toml:
        r.rubric.yaml --labels l | --labels requires --judged
        - --judged j | --judged cannot be used with stdin
        r.rubric.yaml --judged - | --judged: -: does not mean stdout
        r.rubric.yaml --judged= | --judged is empty
        r.rubric.yaml --judged j --add-ignores | --add-ignores cannot be combined with --judged
        --add-ignores - | --add-ignores writes files; it cannot be used with stdin
        --add-ignores --fix | --add-ignores silences every finding; run it without --fix
        --add-ignores --format=json | --add-ignores writes comments, not a report
        --diff-base= | --diff-base is empty
        '--diff-base= ' | --diff-base is empty
        --reason=x | --reason requires --add-ignores
        --add-ignores '--reason=a\nb' | --reason must be one line
        --add-ignores --reason= | --reason must be one line
        --add-ignores '--reason=# Rubric-Lint: ignore' | --reason must not contain `rubric-lint:`
        --show-files - | --show-files cannot be used with stdin
        --show-settings --format sarif | --show-settings supports only --format json
        --show-settings --show-files | --show-files cannot be combined with --show-settings
        convert r.rubric.yaml -o ./r.rubric.yaml | --output is the input file
        convert r.rubric.yaml -o no/such/folder.yaml | no/such/folder.yaml: cannot be written
        convert r.rubric.yaml -o . | .: is not a regular file
        convert r.rubric.yaml -o '' | --output is empty
        convert r.rubric.yaml --config= | --config is empty
        convert none.yaml | none.yaml: does not exist
        convert . | .: cannot be read: it is a folder
        convert r.rubric.yaml --to excel | --to | 'excel' is not one of
        convert r.rubric.yaml --stdin-filename x.yaml | --stdin-filename requires the path -
        convert r.rubric.yaml --config none.toml | none.toml
        convert r.rubric.yaml --config x.toml --isolated | --config cannot be combined with --isolated
        convert HEAD:r.rubric.yaml | HEAD:r.rubric.yaml: no such file, and not a file in a Git revision
        diff r.rubric.yaml | 'NEW'
        diff r.rubric.yaml none.yaml | none.yaml: does not exist
        diff r.rubric.yaml outputs.jsonl | outputs.jsonl: no rubrics found
        diff nowhere:r.rubric.yaml r.rubric.yaml | nowhere:r.rubric.yaml: no such file
        diff - - | stdin can be read only once
        diff old.rubric.yaml r.rubric.yaml --rubric other | no rubric is named `other`; there are `old` and `r`
        diff old.rubric.yaml r.rubric.yaml --outputs none.jsonl | none.jsonl: No such file
        diff old.rubric.yaml r.rubric.yaml --outputs /dev/null | /dev/null: it is a device
        diff old.rubric.yaml r.rubric.yaml --outputs= | --outputs is empty
        diff old.rubric.yaml r.rubric.yaml --stdin-filename x | --stdin-filename requires the path -
        import r.csv --map weight | --map weight: expected FIELD=COLUMN
        import r.csv --map weight=a --map id=A | --map: column `A` cannot hold both `weight` and `id`
        import r.csv --map weight=b | --map: no table has a column `b`
        import r.csv --ignore-column b | --ignore-column: no table has a column `b`
        import r.csv --map weight=id --ignore-column Id | --map and --ignore-column both name the column `id`
        import r.csv --rescale 5..1 | --rescale 5..1 | 1..5
        import r.csv --rescale good | --rescale good | 1..5
        import r.csv -o r.csv | --output is the input file
        import r.csv --stdin-filename x.csv | --stdin-filename requires the path -
        init notes.md | notes.md would not be checked, as it is Markdown
        schema path suit | unknown schema 'suit'; did you mean `suite`?
        schema print answers | 'NAME[@VERSION]' | unknown schema 'answers'; expected
        schema path report --form strict | report@v1 has one form only; leave out --form
    """,
    "rubric-fix": r"""
        --dry-run | unknown option `--dry-run`; did you mean `--diff`?
        --unsafe | unknown option `--unsafe`; did you mean `--unsafe-fixes`?
        --unsafe-fix a | unknown option `--unsafe-fix`; did you mean `--unsafe-fixes`?
        --format jsn | --format | 'jsn' is not one of text, json; did you mean `json`?
        nowhere.yaml | nowhere.yaml: does not exist
        --select deprecated | --select | unknown rule 'deprecated'
        --select=overlap --ignore=weight,overlap | none would run
        --diff --format=json | --diff cannot be combined with --format json
        - --format=json | stdout cannot carry both
        --config a.toml --isolated | --config cannot be combined with --isolated
        --config a.toml | a.toml:
        --stdin-filename a.yaml | --stdin-filename requires the path -
    """,
    "rubric-test": r"""
        - | cannot be read from stdin
        --record | --record requires --model
        --record --model m | OPENAI_API_KEY is not set | --api-key-env | --base-url
        --model m | --model requires --record
        --watch --record --model m | --watch cannot be combined with --record
        --watch --format json | --watch supports only --format full
        r.rubric.yaml | r.rubric.yaml: not a file with rubric tests | NAME.rubric-test.yaml
        empty | no rubric tests found
        init r.rubric.yaml | r.rubric-test.yaml already exists | --output | --force
        init suite.yaml | suite.yaml has 2 rubrics | `first` and `Café`
    """,
    "rubric-score": r"""
        judge --modle x a b | unknown option `--modle`; did you mean `--model`?
        --fail-on nevr a b | --fail-on | 'nevr' is not one of fail, borderline, never; did you mean `never`?
        r.rubric.yaml | 'OUTPUTS...'
        r.rubric.yaml - --pass 2 | --pass | '2' is not a score
        r.rubric.yaml - --pass nan | --pass | 'nan' is not a score
        r.rubric.yaml - --pass 1e-999999999 | --pass | '1e-999999999' is not a score
        r.rubric.yaml - --pass 0.5 | the borderline threshold 0.6 is above the pass threshold 0.5
        r.rubric.yaml nothing.jsonl | nothing.jsonl: No such file
        r.rubric.yaml empty | empty: no files with outputs in this folder
        r.rubric.yaml *.txt.gz | *.txt.gz: no file matches
        r.rubric.yaml outputs.jsonl --map output | 'output' is not FIELD=COLUMN
        r.rubric.yaml - --map output=a --map output=b | the field `output` has two columns, `a` and `b`
        r.rubric.yaml - --map score=a | the field `score` would overwrite that of the result
        r.rubric.yaml - --map ouput=a | did you mean `output`?
        nothing.yaml - | nothing.yaml:
        r.rubric.yaml - | stdin: no outputs found
        r.rubric.yaml - --isolated --config x | --config cannot be combined with --isolated
        r.rubric.yaml - --extract strict | strict is now called whole
        r.rubric.yaml - --extract standard | standard is now called last
        r.rubric.yaml - --extract las | `last`
        r.rubric.yaml outputs.jsonl --report - | --report: -: does not mean stdout
        r.rubric.yaml outputs.jsonl --report missing/p.html | --report: missing/p.html: the folder missing
        r.rubric.yaml outputs.jsonl --report outputs.jsonl | --report: outputs.jsonl: is also an input
        r.rubric.yaml outputs.jsonl --report ./r.rubric.yaml | --report: ./r.rubric.yaml: is also an input
        r.rubric.yaml outputs.jsonl --compare none.jsonl | none.jsonl: No such file
        r.rubric.yaml outputs.jsonl --compare empty.jsonl | --compare: empty.jsonl: no outputs found
        r.rubric.yaml outputs.jsonl --fail-on-worse | --fail-on-worse needs the earlier run; add --compare FILE
        r.rubric.yaml outputs.jsonl --fail-under-doubt | --fail-under-doubt is for limits; add --fail-on-worse
        r.rubric.yaml outputs.jsonl --min-pass-share 1 | 1.0 is not in the range 0<x<1
        r.rubric.yaml outputs.jsonl --max-invalid-share 5% | '5%' is not a valid float range
        r.rubric.yaml o.parquet --engine ray -o out --min-pass-share .5 | --compare and its limits cannot
        r.rubric.yaml outputs.jsonl --labels b.jsonl | --labels is for the HTML report; add --report
        r.rubric.yaml outputs.jsonl --report p.html --compare none.jsonl | none.jsonl: No such file
        r.rubric.yaml outputs.jsonl --report p.html --compare empty.jsonl | --compare: empty.jsonl: no outputs found
        r.rubric.yaml outputs.jsonl --report p.html --labels empty.jsonl | empty.jsonl: no records found
        r.rubric.yaml idless.jsonl --report p.html --labels idless.jsonl | --labels: nothing to compare
        r.rubric.yaml - --report p.html --compare - | stdin can be read only once
        r.rubric.yaml - --report p.html --labels outputs.jsonl | --labels reads the outputs twice
        SOURCE_DATE_EPOCH=soon r.rubric.yaml outputs.jsonl --report p.html | SOURCE_DATE_EPOCH: 'soon'
        r.rubric.yaml outputs.jsonl -o o.txt | .jsonl, .csv | .parquet
        r.rubric.yaml outputs.jsonl -o o.parquet.gz | o.parquet.gz: the name does not say what to write
        r.rubric.yaml outputs.jsonl -o outputs.jsonl | --output: outputs.jsonl: is also an input
        r.rubric.yaml outputs.jsonl -o none/o.csv | --output: none/o.csv: the folder none does not exist
        r.rubric.yaml outputs.jsonl -o o.jsonl --format json | --format is for stdout
        r.rubric.yaml outputs.jsonl -o o.csv --compact | --output: --compact is for JSON Lines
        r.rubric.yaml outputs.jsonl --format json --compact | --compact is for JSON Lines; leave out --format
        compile r.rubric.yaml | '--to'
        compile r.rubric.yaml --to duckd | --to | did you mean `duckdb`?
        compile none.yaml --to duckdb | 'none.yaml' does not exist
        compile r.rubric.yaml --to duckdb --table ' ' | --table is empty
        compile r.rubric.yaml --to duckdb --field grade | --field: `grade`
        compile r.rubric.yaml --to duckdb --table a\x1bb | --table has an invisible character
        compile r.rubric.yaml --to duckdb --rubric s | no rubric is named `s`
        compile r.rubric.yaml --to duckdb -o r.rubric.yaml | is the rubric and would be overwritten
        compile bad.rubric.yaml --to duckdb | bad.rubric.yaml cannot be used for scoring
        compile fine.rubric.yaml --to duckdb | fine.rubric.yaml: rubric `fine`: the points of its answers
        agree r.rubric.yaml | name a file of results or --labels
        agree r.rubric.yaml - --labels - | stdin can be read only once
        agree r.rubric.yaml outputs.jsonl | only one rater, `outputs` | --labels
        agree r.rubric.yaml outputs.jsonl --labels none.jsonl | none.jsonl: No such file
        agree r.rubric.yaml outputs.jsonl --labels empty.jsonl | empty.jsonl: no records found
        agree r.rubric.yaml outputs.jsonl --fail-below alpha | --fail-below: 'alpha' is not STATISTIC=VALUE
        agree r.rubric.yaml outputs.jsonl --fail-below alfa=1 | --fail-below: no statistic is named `alfa` | `alpha`
        agree r.rubric.yaml outputs.jsonl --fail-below d:alpha=1 | --fail-below: no criterion is named `d`
        agree bad.rubric.yaml outputs.jsonl | bad.rubric.yaml:3:13: weight
        schema suite.yaml | the file has 2 rubrics; name one with --rubric: first, Café
        schema suite.yaml --rubric frst | did you mean `first`?
        schema suite.yaml --rubric Cafe\u0301 | `Café` looks the same
        schema bad.rubric.yaml | bad.rubric.yaml:3:13: weight
        prompt r.rubric.yaml | --answer or --answers is missing
        prompt r.rubric.yaml --answer @missing.txt | '--answer' | missing.txt: No such file
        prompt r.rubric.yaml --answer @latin.txt | '--answer' | latin.txt: is not UTF-8 at byte 3
        prompt r.rubric.yaml --question @- --answer @- | '--answer' | --question already reads stdin
        prompt r.rubric.yaml --answers answers.jsonl --answer x | --answer cannot be combined with --answers
        prompt r.rubric.yaml --answers answers.jsonl --shuffle=1 | --shuffle requires --model
        prompt r.rubric.yaml --answers answers.jsonl --sample 2 | --sample requires --shuffle
        prompt r.rubric.yaml --answer So. --id a | --id requires --shuffle
        prompt r.rubric.yaml --answer So. --sample 2 | --sample requires --shuffle
        prompt r.rubric.yaml --answer So. --shuffle | --shuffle requires --id and --model
        judge r.rubric.yaml answers.jsonl --model m | OPENAI_API_KEY is not set | --api-key-env | --base-url
        judge r.rubric.yaml answers.jsonl --model @cf/lab/m | OPENAI_API_KEY is not set
        judge r.rubric.yaml answers.jsonl --model m --api-key-env sk-secret | --api-key-env is not set
        MINE=sk-secrét judge r.rubric.yaml answers.jsonl --model m --api-key-env MINE | MINE contains characters
        judge r.rubric.yaml answers.jsonl --model m@notaurl | `m@` in --model is not a URL | m@https://HOST/PATH
        judge r.rubric.yaml answers.jsonl --model m@sk-secret:x | `m@` in --model is not a URL
        judge r.rubric.yaml answers.jsonl --model m@http://127.0.0.1:9 --api-key-env m=SOME | SOME is not set
    """,
    JUDGE: r"""
        --model '' | '--model' | is blank
        --model m --model ' ' | '--model' | is blank
        --model m --model m | --model names `m` twice | --samples
        --model m@http://h/v1/ --model m@http://h/v1 | --model names `m` twice
        --model @http://h/v1 | '--model' | has no name before the @
        --model m@localhost:8000/v1 | '--model' | the endpoint of `m` must begin with http://
        --model m@htps://user:sk-secret@host/v1 | '--model' | the endpoint of `m` must begin with http://
        --model m@ | '--model' | has no endpoint after the @ of `m@`
        --model 'm@http://a b/v1' | '--model' | the endpoint of `m` must have the form
        --model m@http://ä..b/v1 | '--model' | the endpoint of `m` must have the form
        --model 'm@http://h/v1\n' | '--model' | the endpoint of `m` must have the form
        --model m@http://h/\x01 | '--model' | the endpoint of `m` must have the form
        --model m@http://300.1.1.1/v1 | '--model' | the endpoint of `m` must have the form
        --model m@http:///v1 | '--model' | the endpoint of `m` must have the form
        --model m\udcff | '--model' | not UTF-8
        --model m --base-url 'http://h/v1\n' | --base-url must have the form
        --model m --base-url 127.0.0.1:9 | --base-url must have the form
        --model m --base-url http:// | --base-url must have the form
        --model m --base-url http://[::1 | --base-url must have the form
        --model m --base-url http://127.0.0.1:99999/v1 | --base-url must have the form
        --model m --api-key-env m=KEY --api-key-env OTHER | --api-key-env names a key that no model would use
        --model m --model n --api-key-env o=KEY | --api-key-env MODEL=NAME | `m` and `n`
        --model m@http://h --model m@http://i --api-key-env m=K | MODEL=NAME | `m@http://h` and `m@http://i`
        --model m@http://h --model n@http://i --api-key-env KEY | --api-key-env | MODEL=NAME
        --model m --api-key-env KEY --api-key-env OTHER | --api-key-env is given twice | MODEL=NAME
        --model m --api-key-env m=KEY --api-key-env m=OTHER | --api-key-env names two keys for `m`
        --model m --api-key-env MINE | MINE is not set
        --model m --shuffle answers.jsonl | '--shuffle' | 'answers.jsonl' is not a seed | --shuffle=SEED
        --model m --temperature nan | '--temperature' | 'nan' is not a finite number
        --model m --timeout inf | '--timeout' | 'inf' is not a finite number
        --model m --output - | --output: -: does not mean stdout
        --model m --output answers.jsonl | --output is the answers file
        --model m --extra-body { | '--extra-body' | is not JSON
        --model m --extra-body [1] | '--extra-body' | is not a JSON object
        --model m --extra-body '{"model": "x"}' | '--extra-body' | cannot set `model`
        --model m --extra-body '{"messages": []}' | '--extra-body' | cannot set `messages`
        --model m --extra-body '{"stream": true}' | '--extra-body' | cannot set `stream`
        --model m --extra-body '{"n": 2}' | '--extra-body' | cannot set `n` | --samples
        --model m --extra-body '{"seed": 2}' | '--extra-body' | cannot set `seed`; use --seed
        --model m --extra-body '{"temperature": 2}' | '--extra-body' | cannot set `temperature`; use --temperature
        --model m --extra-body '{"response_format": {}}' | '--extra-body' | cannot set `response_format`
        --model m --extra-body '{"x": 1e999}' | '--extra-body' | the number 1e999 is too large
        --model m --extra-body '{"x": {"y": 1, "y": 2}}' | '--extra-body' | `y` is given twice in one object
        --model m --extra-body '{"x": "\\ud800"}' | '--extra-body' | half of a surrogate pair
        --model m --max-tokens 9 --extra-body '{"max_completion_tokens": 8}' | `max_completion_tokens` | --max-tokens
        --model m --header x | '--header' | NAME=VALUE
        --model m --header 'x y=sk-secret' | '--header' | NAME=VALUE
        --model m --header Host=x | '--header' | `Host` cannot be set
        --model m --header x=1 --header X=2 | '--header' | `X` is given twice
        --model m --header 'x=1\n2' | '--header' | `x`
        --model m --header-env x=NOT_SET | '--header-env' | NOT_SET for the header `x` is not set
        --model m --header-env x=sk-secret | '--header-env'
        --model m --prices none.toml | --prices: none.toml: No such file
        --model m --batch-size 5 | --batch-size requires --batch-requests or --batch-results
        --model m --batch-requests - | --batch-requests: -: does not mean stdout
        --model m --answer-field '' | '--answer-field' | is empty
        --model m --batch-requests b --batch-format anthropic | --max-tokens
        --model m --batch-requests b --batch-format anthropic --max-tokens 9 --seed 1 | --seed
        --model m --batch-requests b --batch-format anthropic --max-tokens 9 --response-format json_object | json_schema
        --model m --batch-requests b --batch-format anthropic --max-tokens 9 --extra-body '{"system": "x"}' | `system`
        --model m --batch-requests b --header x=1 | --header
    """,
    "rubric-score judge r.rubric.yaml --base-url http://127.0.0.1:9/v1 --model m": r"""
        wrong.jsonl | wrong.jsonl: line 2: missing field `answer`
        - | name a results file with --output
        - --output o.jsonl | stdin: contains no answers
    """,
}
ROWS = [
    (f"{start} {row[0]}", row[1:])
    for start, rows in WRONG.items()
    for row in (line.strip().split(" | ") for line in rows.strip().splitlines())
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    for name, text in FILES.items():
        Path(name).write_text(text, "utf-8")
    Path("latin.txt").write_bytes(b"Gr\xf6\xdfe")
    Path("empty").mkdir()
    Path("circle").symlink_to("circle")
    Path("link.yaml").symlink_to("r.rubric.yaml")
    return tmp_path


def held(folder):
    return {path.name: path.read_bytes() if path.is_file() else None for path in folder.iterdir()}


@pytest.mark.parametrize(("line", "told"), ROWS, ids=[line.encode("ascii", "replace").decode() for line, _ in ROWS])
def test_wrong_use_is_told_before_anything_is_done(folder, monkeypatch, line, told):
    before = held(folder)
    words = shlex.split(line.encode("latin-1", "backslashreplace").decode("unicode_escape"))
    program, *words = words
    while "=" in words[0] and words[0].partition("=")[0].isupper():
        monkeypatch.setenv(*words.pop(0).split("=", 1))
    out, errors, code = call(shlex.join([program, *words]), input="")
    assert [part for part in told if part not in " ".join(errors.split())] == []
    assert (out.partition(" files")[0] in {"", "0"}, code, "sk-secr" in errors) == (True, 2, False)
    assert held(folder) == before
