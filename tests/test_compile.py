"""`rubric-score compile`: queries that score as `score_batch` does, or say that they cannot."""

import atexit
import gc
import json
import re
from collections import Counter
from pathlib import Path

import commands
import pytest
from cases import read_cases
from engines import find_java, needs_engines, run
from random_tables import NAMES, join_pieces, make_structs, make_tables

from rubric_lint import RubricError, load_rubrics, score_batch
from rubric_lint.engines.sql import DIALECTS, compile_rubric
from rubric_lint.format.criterion import Shape
from rubric_lint.outputs.verdict import Extract
from rubric_lint.version import __version__

ROOT = Path(__file__).parent.parent
GOLDEN = Path(__file__).parent / "data/compiled"
SUMMARY = ROOT / "examples/summary.rubric.yaml"

RANGES = """\
rubrics:
  - id: accuracy
    weight: 2
    required_min_score: 7
    score_ranges: {0: Wrong in a main point, 3: Right in the main points, 7: Right in all points}
  - {id: Länge, score_ranges: {0: Longer than 80 words, 5: At most 80 words}}
"""
LEVELS = """\
rubrics:
  - {id: quality, levels: {1: Wrong in a main point, 3: Right in the main points, 5: Right in all points}}
"""
CHECKLIST = "rubrics: [{id: year, expected_outcome: Names the year}, {id: cost, expected_outcome: Names the cost}]"
HOLISTIC = """\
rubrics:
  - {score_range: [0, 4], expected_outcome: Too long}
  - {score_range: [5, 10], expected_outcome: Short}
"""
SHAPES = {"RANGES": RANGES, "LEVELS": LEVELS, "CHECKLIST": CHECKLIST, "HOLISTIC": HOLISTIC}
TABLES = read_cases(__file__)


@pytest.fixture(scope="module")
def database():
    duckdb = pytest.importorskip("duckdb")
    # Commands that run in this process freeze its objects, and DuckDB writes at exit which of its own it cannot free.
    atexit.register(gc.unfreeze)
    with duckdb.connect(config={"threads": 1}) as connection:
        yield connection


def load_one(text, name="r.rubric.yaml"):
    (rubric,) = load_rubrics(name, text).values()
    return rubric


def ask(database, rubric, outputs, **options):
    """The rows that the query returns for a table of Arrow, in the order of the outputs: structs as dictionaries."""
    database.register("outputs", outputs)
    result = database.sql(compile_rubric(rubric, "duckdb", **options)).order("id")
    return [dict(zip(result.columns, row, strict=True)) for row in result.fetchall()]


def as_table(outputs, kind=None):
    pa = pytest.importorskip("pyarrow")
    return pa.table({"id": [*range(len(outputs))], "output": pa.array(outputs, kind)})


def check(rubric, outputs, rows, **options):
    """Hold rows of a query against `score_batch`; return how many have which status, and what `score_batch` says."""
    counted = Counter()
    for expected, row in zip(score_batch(rubric, outputs, **options), rows, strict=True):
        status = "invalid" if expected.error else "valid"
        counted[row["status"], status] += 1
        told = (row["id"], row["rubric"], row["rubric_hash"])
        assert told == (expected.id, rubric.name, rubric.hash)
        columns = ("points", "full", "score", "verdict", "gates_missed", "criteria")
        found = [row[name] for name in columns]
        if row["status"] == "valid":
            answers = [
                {"id": each.criterion.id, "raw": int(each.grade.answer), "gate_met": each.grade.gate_met}
                for each in expected.criteria or ()
            ]
            wanted = [
                expected.points,
                expected.full,
                expected.score,
                expected.verdict,
                list(expected.gates_missed or ()),
            ]
            assert (status, [*wanted, answers], None) == ("valid", found, row["error"]), expected
        else:
            assert found == [None] * 6
            assert row["error"]
            assert row["status"] == "unread" or status == "invalid", (row, expected)
    return counted


def reasons(database, text, outputs, **options):
    """The status of each output and why, after comparing them with `score_batch`."""
    rubric, table = load_one(text), as_table(outputs, options.pop("kind", None))
    rows = ask(database, rubric, table, **options)
    check(rubric, table, rows, **{name: value for name, value in options.items() if name == "extract"})
    return [(row["status"], row["error"] or str(row["points"])) for row in rows]


def ranges(accuracy=7, length=5, **more):
    return {"checks": [{"id": "accuracy", "score": accuracy}, {"id": "Länge", "score": length}], **more}


@pytest.mark.slow
@pytest.mark.parametrize("case", TABLES["texts"].values(), ids=TABLES["texts"])
def test_an_output_is_valid_invalid_for_a_reason_or_left_to_rubric_score(database, case, said):
    shape, outputs = case
    found = reasons(database, SHAPES[shape], outputs)
    said([[f"{output}", f"  {status}: {told}"] for output, (status, told) in zip(outputs, found, strict=True)])


def test_a_null_in_a_struct_is_a_missing_field(database, said):
    said([f"{status}: {told}" for status, told in reasons(database, RANGES, TABLES["structs"], is_struct=True)])


@pytest.mark.parametrize("whole", ["{}", "\ufeff{}\n", "\u3000{}\u200b", "```json\n{}\n```", "```\n{}```\n"])
def test_one_object_is_read_with_blanks_and_in_one_fence(database, whole):
    judged = ranges(7.0, -0.0, reasoning="It says `x` <b>.", evidence=["a {", "b"])
    assert reasons(database, RANGES, [whole.replace("{}", json.dumps(judged, indent=1))]) == [("valid", "14")]


@pytest.mark.parametrize(
    ("extract", "left"),
    [("whole", ["invalid", "unread", "unread"]), ("last", ["invalid", "unread", "unread"]), ("only", ["unread"] * 3)],
)
def test_what_a_text_beside_the_object_is_depends_on_what_is_the_verdict(database, extract, left):
    judged = json.dumps(ranges())
    outputs = [judged, f"\ufeff{judged}\r\n", f"\u3000{judged}", f"```json\n{judged}\n```", "[1]", "{}"]
    more = [f"{judged[:-1]} ({judged}", f"So:\n{judged}", f"<think>{judged}</think>{judged}"]
    found = reasons(database, RANGES, [*outputs, *more], extract=Extract(extract))
    assert [status for status, _ in found] == [*["valid"] * 4, "invalid", "invalid", *left]


@pytest.mark.spread(4)
@pytest.mark.parametrize("extract", Extract)
@pytest.mark.parametrize(
    "mark", ["<think>", "</think>", "[/THINK]", "&lt;/think&gt;", "\u25c1/think\u25b7", "\uff1c/think\uff1e", "~~~\n"]
)
def test_the_query_leaves_what_may_be_thoughts_to_rubric_score(database, extract, mark):
    judged = json.dumps(ranges())
    outputs = [f"{{x {mark}{judged}", f"{mark}{judged}", f"analysis {mark}{judged}", f'{{"a": "{mark}"}} {judged}']
    reasons(database, RANGES, outputs, extract=extract)


def test_a_struct_with_other_types_than_those_of_json_is_unread(database):
    pa = pytest.importorskip("pyarrow")
    kind = pa.struct([("score", pa.decimal128(3, 1))])
    told = "a column of another type than STRUCT, or a type in it that JSON does not have"
    assert reasons(database, HOLISTIC, [{"score": 7}], is_struct=True, kind=kind) == [("unread", told)]
    assert reasons(database, HOLISTIC, ['{"score": 7}'], is_struct=True) == [("unread", told)]
    rows = ask(database, load_one(HOLISTIC), as_table([b'{"score": 7}'], pa.binary()))
    assert [(row["status"], row["error"]) for row in rows] == [("unread", "a column of another type than a string")]


def test_a_collation_does_not_change_which_ids_are_equal(database):
    rubric = load_one(CHECKLIST)
    output = json.dumps({"checks": [{"id": "YEAR", "satisfied": True}, {"id": "cost", "satisfied": True}]})
    database.execute("CREATE OR REPLACE TABLE loose (id INT, output VARCHAR COLLATE NOCASE.NOACCENT)")
    database.execute("INSERT INTO loose VALUES (1, ?)", [output])
    (row,) = database.sql(compile_rubric(rubric, "duckdb", table="loose")).fetchall()
    assert row[-2:] == ("invalid", 'check 1: the rubric has no criterion "YEAR"')


@pytest.mark.parametrize("collation", ["NOCASE", "nocase.noaccent", "NFC"])
def test_under_a_default_collation_no_output_is_read(database, collation):
    outputs = as_table([json.dumps({"checks": [{"id": "YEAR", "satisfied": True}]}), None])
    database.execute(f"SET default_collation = '{collation}'")
    try:
        rows = ask(database, load_one(CHECKLIST), outputs)
    finally:
        database.execute("RESET default_collation")
    told = "a default collation, under which different texts may be equal"
    assert [(row["status"], row["error"]) for row in rows] == [("unread", told), ("invalid", "the output is missing")]
    database.execute("SET default_collation = 'binary'")
    assert [row["status"] for row in ask(database, load_one(CHECKLIST), outputs)] == ["invalid", "invalid"]


@pytest.mark.slow
def test_long_texts_and_deep_ones_are_read(database):
    said = 'It says "\\n{[" and more. ' * 20_000
    outputs = [
        json.dumps(ranges(overall_reasoning=said)),
        "[" * 50_000,
        '{"checks":' * 5_000,
        said,
        " " * 500_000 + "{",
    ]
    found = reasons(database, RANGES, outputs)
    assert [status for status, _ in found] == ["valid", *["invalid"] * 4]


def test_many_criteria_are_scored(database):
    ids = [f"c{number}" for number in range(60)]
    rubric = load_one(json.dumps({"rubrics": [{"id": name, "expected_outcome": f"Shows {name}"} for name in ids]}))
    answers = [{"id": name, "satisfied": name.endswith("1")} for name in reversed(ids)]
    outputs = as_table([json.dumps({"checks": answers})])
    assert check(rubric, outputs, ask(database, rubric, outputs)) == {("valid", "valid"): 1}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("extract", "told"),
    [
        ("whole", ["invalid"] * 4 + ["unread"]),
        ("last", ["invalid", "invalid", "valid", "valid", "unread"]),
        ("only", ["invalid", "invalid", "valid", "valid", "unread"]),
    ],
)
@pytest.mark.parametrize("is_struct", [False, True])
def test_a_field_that_nobody_asked_for_counts_as_in_scoring(database, extract, told, is_struct):
    more = {"tries": 3}, {"": False}, {"grade": "F"}, {"tags": ["a"]}, {"Score": "x"}
    outputs = [
        ranges(**{"Checks" if "Score" in each else name: value for name, value in each.items()}) for each in more
    ]
    if is_struct:  # of one type each, as in a column
        found = [reasons(database, RANGES, [output], extract=Extract(extract), is_struct=True)[0] for output in outputs]
    else:
        found = reasons(database, RANGES, [json.dumps(output) for output in outputs], extract=Extract(extract))
    assert [status for status, _ in found] == [*told[:4], "invalid" if extract == "whole" else told[4]]


@pytest.mark.parametrize("extract", Extract)
def test_a_line_break_in_a_string_is_left_to_rubric_score(database, extract):
    texts = ['{"score": 7, "reasoning": "One.\nTwo."}', '{"score": 7, "reasoning": "One.\tTwo."}']
    assert [status for status, _ in reasons(database, HOLISTIC, texts, extract=extract)] == ["unread"] * 2


@pytest.mark.slow
@pytest.mark.spread(3)
@pytest.mark.parametrize(("seed", "extract"), [*enumerate(Extract, 7)])
def test_random_outputs_score_as_by_score_batch(database, seed, extract):
    counted = Counter()
    for rubric, texts in make_tables(seed, 6, 60):
        outputs = as_table(texts)
        counted += check(rubric, outputs, ask(database, rubric, outputs, extract=extract), extract=extract)
    assert counted["valid", "valid"] > 60
    assert counted["invalid", "invalid"] > 60
    assert counted["unread", "valid"] + counted["unread", "invalid"] < 200


@pytest.mark.slow
@pytest.mark.spread(3)
@pytest.mark.parametrize("extract", Extract)
def test_texts_of_random_pieces_score_as_by_score_batch(database, extract):
    rubric, outputs = load_one(HOLISTIC), as_table(join_pieces(3, 3_000))
    counted = check(rubric, outputs, ask(database, rubric, outputs, extract=extract), extract=extract)
    assert min(counted["valid", "valid"], counted["invalid", "invalid"], counted["unread", "valid"]) > 20


@pytest.mark.slow
def test_random_structs_score_as_by_score_batch(database):
    counted = Counter()
    for rubric, structs in make_structs(9, 6, 40):
        outputs = as_table(structs)
        counted += check(rubric, outputs, ask(database, rubric, outputs, is_struct=True))
    assert counted["valid", "valid"] > 60
    assert counted["invalid", "invalid"] > 20


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_compiled_rubric_is_always_the_same(dialect, renews):
    rubric = load_one(SUMMARY.read_text("utf-8"), "summary.rubric.yaml")
    query = compile_rubric(rubric, dialect).replace(__version__, "VERSION")
    golden = GOLDEN / f"summary.{dialect}.sql"
    if renews:
        golden.write_text(query, "utf-8")
    assert query == golden.read_text("utf-8")


def words_outside(query, dialect):
    """The words and marks of a query outside its comments and literals."""
    quote = DIALECTS[dialect].quote
    return set(re.findall(r"\w+|[^\w\s]", re.sub(rf"--[^\n]*|'[^']*'|{quote}[^{quote}]*{quote}", "", query)))


def compile_named(name, dialect, table="outputs"):
    """A query whose rubric and criterion have this name."""
    entries = [{"id": name, "expected_outcome": "Names the year", "required_min_score": 10}]
    (rubric,) = load_rubrics("s.json", json.dumps({"tests": [{"id": name, "rubrics": entries}]})).values()
    return compile_rubric(rubric, dialect, table=table)


HOSTILE = ["x'", "''", "\\'", "a\r\nDROP", "*/ --", "x$y", "a\u2028b", '"; --', "r'", "{% x %}", "X'00'", "\\\n", "{#"]


@pytest.mark.slow
@pytest.mark.parametrize("dialect", DIALECTS)
def test_names_cannot_break_out_of_the_query(dialect):
    expected = words_outside(compile_named("year", dialect), dialect)
    expected |= words_outside(compile_named("it's", dialect), dialect)
    for name in (*NAMES, *HOSTILE):
        query = compile_named(name, dialect)
        assert words_outside(query, dialect) <= expected, name
        assert query.replace("\n", "").isprintable()
        # What Spark fills in, and the templates of dbt.
        assert re.search(r"\$\{|\{\{|\{%|\{#", query) is None, name


def test_hostile_ids_are_scored(database):
    duckdb = pytest.importorskip("duckdb")
    ids = [name for name in NAMES if name != "e\u0301"]
    entries = [
        {"id": name, "expected_outcome": f"Shows {number}", "required_min_score": 10} for number, name in enumerate(ids)
    ]
    rubric = load_one(json.dumps({"rubrics": entries}), "r.rubric.json")
    assert len(duckdb.extract_statements(compile_rubric(rubric, "duckdb"))) == 1
    answers = [{"id": name, "satisfied": number % 2 == 0} for number, name in enumerate(ids)]
    outputs = as_table([json.dumps({"checks": answers}, ensure_ascii=is_ascii) for is_ascii in (True, False)])
    rows = ask(database, rubric, outputs)
    assert check(rubric, outputs, rows) == {("valid", "valid"): 2}
    assert rows[0]["gates_missed"] == rows[1]["gates_missed"] == ids[1::2]


def test_points_are_never_below_0_and_need_64_bits(database):
    entries = [
        {"criterion": "Names the year", "points": 3, "tags": []},
        {"criterion": "Names a wrong place", "points": -5, "tags": []},
    ]
    (rubric,) = load_rubrics("healthbench.json", json.dumps({"prompt": [], "rubrics": entries})).values()
    ids = [each.id for each in rubric.criteria]
    outputs = as_table(
        [
            json.dumps({"checks": [{"id": name, "satisfied": met} for name, met in zip(ids, way, strict=True)]})
            for way in ((True, False), (True, True), (False, False))
        ]
    )
    rows = ask(database, rubric, outputs)
    check(rubric, outputs, rows)
    assert [(row["points"], row["verdict"]) for row in rows] == [(3, "pass"), (0, "fail"), (0, "fail")]
    huge = CHECKLIST.replace("year}", "year, weight: 1}").replace("cost}", "cost, weight: 0.1234567890123456789}")
    with pytest.raises(RubricError, match="more than a column of 64-bit integers holds"):
        compile_rubric(load_one(huge), "duckdb")
    with pytest.raises(RubricError, match="a level of `quality` has more than 18 digits"):
        compile_rubric(load_one(LEVELS.replace("{1:", "{-1000000000000000000:")), "duckdb")


def test_large_levels_and_points_do_not_overflow(database):
    one, two = 999_999_999_999_999_998, 999_999_999_999_999_999
    rubric = load_one(f"""\
        rubrics:
          - {{id: a, weight: 1000, levels: {{{one}: Wrong in a main point, {two}: Right}}}}
          - {{id: b, weight: 0.001, levels: {{-{two}: Wrong in a main point, -{one}: Right}}}}
    """)
    texts = [
        json.dumps({"checks": [{"id": "a", "level": a}, {"id": "b", "level": b}]})
        for a in (one, two, two + 1, 10**30)
        for b in (-two, -one, -two - 1, -(10**30))
    ]
    rows = ask(database, rubric, as_table(texts))
    assert check(rubric, as_table(texts), rows) == {("valid", "valid"): 4, ("invalid", "invalid"): 12}
    assert [row["points"] for row in rows if row["status"] == "valid"] == [0, 1, 1_000_000, 1_000_001]


@pytest.mark.parametrize(
    "table", ["outputs", "main.outputs", "my outputs", "scoring_3", 'a"b', "x;--", "SELECT", "outputs.2026"]
)
def test_a_table_may_have_any_name(database, table):
    rubric = load_one(HOLISTIC)
    name = '"main"."outputs"' if table == "main.outputs" else DIALECTS["duckdb"].identifier(table)
    if table == "outputs.2026":
        database.execute("CREATE SCHEMA outputs")
        name = '"outputs"."2026"'
    database.unregister("outputs")
    database.execute(f"CREATE OR REPLACE TABLE {name} AS SELECT 'x' AS id, '{{\"score\": 7}}' AS output")
    assert [row[:5] for row in database.sql(compile_rubric(rubric, "duckdb", table=table)).fetchall()] == [
        ("x", rubric.name, rubric.hash, 7, 10)
    ]
    database.execute(f"DROP TABLE {name}")


def call(*arguments, folder):
    done = commands.run("rubric-score", "compile", *arguments, cwd=folder)
    return done.returncode, done.stdout, done.stderr


def test_the_command_prints_the_query_or_writes_it(tmp_path):
    (tmp_path / "r.rubric.yaml").write_text(RANGES, "utf-8")
    expected = compile_rubric(load_one(RANGES), "duckdb", table="judged", extract=Extract.WHOLE, is_struct=True)
    options = ("--table", "judged", "--extract", "whole", "--column-type", "struct")
    assert call("r.rubric.yaml", "--to", "duckdb", *options, folder=tmp_path) == (0, expected, "")
    assert call("r.rubric.yaml", "--to", "duckdb", *options, "-o", "r.sql", folder=tmp_path) == (0, "", "")
    assert (tmp_path / "r.sql").read_text("utf-8") == expected


@pytest.mark.slow
def test_50_000_random_outputs_score_as_by_score_batch_in_duckdb(database):
    counted, shapes = Counter(), Counter()
    for rubric, texts in make_tables(1, 400, 120):
        outputs = as_table(texts)
        counted += check(rubric, outputs, ask(database, rubric, outputs))
        shapes[rubric.shape] += len(texts)
    for rubric, structs in make_structs(2, 40, 50):
        outputs = as_table(structs)
        counted += check(rubric, outputs, ask(database, rubric, outputs, is_struct=True))
    assert counted.total() == 50_000
    assert counted["valid", "valid"] > 17_000
    assert counted["invalid", "invalid"] > 12_000
    assert min(shapes[shape] for shape in Shape) > 5_000


SPARK = """
import json
from pathlib import Path
from pyspark.sql import SparkSession

spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
for query in sorted(Path().glob("*.sql")):
    spark.read.parquet(str(query.with_suffix(".parquet"))).createOrReplaceTempView("outputs")
    rows = [row.asDict(recursive=True) for row in spark.sql(query.read_text("utf-8")).collect()]
    query.with_suffix(".json").write_text(json.dumps(sorted(rows, key=lambda row: row["id"])), "utf-8")
"""

COLLATED = """
import json
from pathlib import Path
from pyspark.sql import SparkSession

spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
query = Path("0.sql").read_text("utf-8")
found = []
for collation in ("UTF8_BINARY", "UTF8_LCASE"):
    spark.read.parquet("0.parquet").createOrReplaceTempView("loose")
    spark.sql(f"CREATE OR REPLACE TEMP VIEW outputs AS SELECT id, output COLLATE {collation} AS output FROM loose")
    for default in ("UTF8_BINARY", "UTF8_LCASE"):
        spark.sql(f"CREATE OR REPLACE TEMP VIEW scores DEFAULT COLLATION {default} AS {query}")
        found.append([list(row) for row in spark.sql("SELECT status, error FROM scores ORDER BY id").collect()])
Path("found.json").write_text(json.dumps(found), "utf-8")
"""


def write_for_spark(folder, cases):
    """Write a query, and the table that it reads, for each rubric."""
    pq = pytest.importorskip("pyarrow.parquet")
    for number, (rubric, outputs, options) in enumerate(cases):
        (folder / f"{number}.sql").write_text(compile_rubric(rubric, "spark-sql", **options), "utf-8")
        pq.write_table(outputs, folder / f"{number}.parquet")


@pytest.mark.engines
@needs_engines
def test_50_000_random_outputs_score_as_by_score_batch_in_spark(tmp_path):
    cases = [(rubric, as_table(texts), {}) for rubric, texts in make_tables(2, 20, 2_300)]
    cases += [(rubric, as_table(structs), {"is_struct": True}) for rubric, structs in make_structs(3, 5, 800)]
    write_for_spark(tmp_path, cases)
    done = run("-c", SPARK, folder=tmp_path, JAVA_HOME=find_java())
    assert done.returncode == 0, done.stderr
    counted, shapes = Counter(), Counter()
    for number, (rubric, outputs, _) in enumerate(cases):
        rows = json.loads((tmp_path / f"{number}.json").read_text("utf-8"))
        counted += check(rubric, outputs, rows)
        shapes[rubric.shape] += len(rows)
    assert counted.total() == 50_000
    assert counted["valid", "valid"] > 17_000
    assert counted["invalid", "invalid"] > 12_000
    assert min(shapes[shape] for shape in Shape) > 2_500


@pytest.mark.engines
@needs_engines
def test_a_collation_in_spark_does_not_change_which_ids_are_equal(tmp_path):
    output = json.dumps({"checks": [{"id": "YEAR", "satisfied": True}, {"id": "cost", "satisfied": True}]})
    write_for_spark(tmp_path, [(load_one(CHECKLIST), as_table([output]), {})])
    done = run("-c", COLLATED, folder=tmp_path, JAVA_HOME=find_java())
    assert done.returncode == 0, done.stderr
    exact = [["invalid", 'check 1: the rubric has no criterion "YEAR"']]
    loose = [["unread", "a default collation, under which different texts may be equal"]]
    assert json.loads((tmp_path / "found.json").read_text("utf-8")) == [exact, loose, exact, loose]
