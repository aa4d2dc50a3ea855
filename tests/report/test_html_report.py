import base64
import hashlib
import io
import json
import random
import re
import tracemalloc
import zlib
from decimal import Decimal
from html import escape, unescape
from html.parser import HTMLParser
from unittest.mock import patch

import browser
import pytest
import report_pictures
from report_pictures import CHROMIUM, PICTURES, ROOT

from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.lint.run.console import Progress
from rubric_lint.report.html import HtmlReport, PageContent, keep_options
from rubric_lint.report.page_answers import PageAnswers
from rubric_lint.scoring.grading import JudgeOutput
from rubric_lint.scoring.loading import load_rubrics
from rubric_lint.scoring.output import reader_of
from rubric_lint.scoring.run import ScoringRun
from rubric_lint.scoring.scorer import Scorer
from rubric_lint.scoring.totals import Totals
from rubric_lint.version import __version__

SUITE = b"""\
tests:
  - id: tower
    rubrics:
      - id: accuracy
        weight: 2
        required_min_score: 5
        score_ranges: {0: Contradicts the source., 5: Agrees with the source in every statement.}
      - {id: tone, score_ranges: {0: Insults the reader., 5: Addresses the reader politely.}}
  - id: sorting
    rubrics: [Names the pivot]
"""
RUBRICS = load_rubrics("suite.yaml", SUITE)


def tower(number, accuracy, tone, reason="Because.", **fields):
    checks = [{"id": "accuracy", "score": accuracy, "reasoning": reason}, {"id": "tone", "score": tone}]
    return {"id": number, "rubric": "tower", "output": {"checks": checks}, **fields}


def count_outputs(totals, rubric, answers, times=1):
    """Count outputs that have these answers."""
    totals.take(reader_of(rubric).check_answers(JudgeOutput(answers, (None,) * len(answers))), times)


def draw(page, totals, title="a", **extras):
    """The page as it is written."""
    parts = []
    page.write(parts.append, totals, title, PageContent(**extras))
    return "".join(parts)


def static(page):
    """What the page shows without its script, and without the data for it."""
    return re.sub(r"(?s)<script.*</script>\n", "", page)


def report(*records, title="answers by suite", worst=10):
    page, totals = HtmlReport(RUBRICS), Totals(RUBRICS.values())
    for line, record in enumerate(records, 1):
        text = json.dumps(record).encode()
        outcome = Scorer(RUBRICS).score(text, line)
        with patch("rubric_lint.report.html._MOST_WORST", worst):
            page.add(outcome, text)
        if outcome.result:
            totals.take(outcome.result)
        else:
            totals.invalid += 1
    return draw(page, totals, title)


class Reader(HTMLParser):
    """The text of a page, with a bar between what stands in different elements; and whether its tags pair."""

    VOID = frozenset({"meta", "br"})

    def __init__(self, page):
        super().__init__()
        self.parts, self.open, self.tags, self.attributes = [], [], [], []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *attribute) for attribute in attrs]
        self.parts.append("|")
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        self.parts.append("|")

    def handle_data(self, data):
        if not {"style", "script"} & set(self.open):
            self.parts.append(data)

    @property
    def text(self):
        return re.sub(r"(\s*\|\s*)+", " | ", "".join(self.parts)).strip(" |")


def section(text, heading):
    """What stands from one heading to the next one."""
    start = text.index(f"| {heading} |") + 2
    ends = [
        text.find(f"| {other}", start + 1)
        for other in ("Distribution of", "Criteria of | ", "The worst", "Invalid outputs (", "Every answer (")
    ]
    return text[start : min([end for end in ends if end > 0], default=len(text))].strip(" |")


RECORDS = (
    tower("a1", 10, 10),
    tower("a2", 10, 1),
    tower("a3", 4, 10),
    tower("a4", 11, 10),
    {"id": "s1", "rubric": "sorting", "output": {"checks": [{"id": "rubric-1", "satisfied": True}]}},
)


@pytest.mark.slow
def test_the_page_has_figures_criteria_the_worst_answers_and_what_is_invalid(said):
    worst = tower("a5", 0, 10, "It says 1789.", question="When?", answer="In 1789.")
    said(Reader(report(*RECORDS, worst, worst=2)).text.replace(__version__, "VERSION").split(" | "))


def test_the_worst_are_found_wherever_they_stand_and_of_equal_ones_the_first():
    scores = [7, 6, 3, 7, 3, 7, 2, 6, 3]
    records = [tower(f"a{place}", score, score) for place, score in enumerate(scores)]
    names = re.findall(r'<h3 dir="auto">(\w+)</h3>', report(*records, worst=3))
    assert names == ["a6", "a2", "a4"]


def test_a_pass_is_not_among_the_worst():
    text = Reader(report(tower("a1", 10, 10), tower("a2", 7, 7), tower("a3", 8, 8))).text
    assert section(text, "The worst answer").split(" | ")[2:5] == ["a2", "borderline", "tower"]
    text = Reader(report(tower("a1", 10, 10), tower("a4", 11, 10))).text
    assert section(text, "The worst answers").split(" | ") == ["The worst answers", "All valid outputs pass."]
    assert "The worst" not in Reader(report(tower("a4", 11, 10))).text


def test_the_page_says_where_invalid_outputs_count_and_a_part_is_never_all_or_nothing():
    text = Reader(report(*[tower("a1", 10, 10)] * 3, tower("a4", 11, 10))).text
    assert "| Outputs | 4 | Mean score | 1.000 | of valid ones | Pass | 3 | 75% of all |" in text
    assert "| Invalid | 1 | 25% of all |" in text
    assert (
        "An invalid output has no score. It counts as an output, so it lowers the share of each verdict; means, "
        "standard deviations, the distribution and the criteria leave it out."
    ) in text
    totals = Totals(RUBRICS.values())
    for answer, times in ((True, 99_999), (False, 1)):
        count_outputs(totals, RUBRICS["sorting"], (answer,), times)
    text = Reader(draw(HtmlReport(RUBRICS), totals)).text
    assert "| Pass | 99,999 | over 99% of all | Borderline | 0 | 0% of all | Fail | 1 | under 1% of" in text


@pytest.mark.slow
def test_many_invalid_outputs_are_counted_and_the_first_ones_listed():
    page = report(*[tower(f"a{number}", 11, 1) for number in range(1000)])
    assert "Invalid outputs (1,000, the first 20)" in page
    assert re.findall(r'<th scope="row">(\w+)</th>', page) == [f"a{number}" for number in range(20)]


def test_the_distribution_is_drawn_in_the_colours_of_the_verdicts_and_told_in_words():
    page = report(*RECORDS, tower("a6", 10, 4))
    drawn = re.findall(r'<rect class="(\w+)"[^>]*><title>([^<]*)</title></rect>', page.partition("</svg>")[0])
    assert drawn == [
        ("fail", "0.60 to 0.65: 1 fail"),
        ("borderline", "0.70 to 0.75: 1 borderline"),
        ("pass", "0.80 to 0.85: 1 pass"),
        ("pass", "0.95 to 1.00: 2 pass"),
    ]
    assert 'aria-label="Answers by score. 0.60 to 0.65: 1; 0.70 to 0.75: 1; 0.80 to 0.85: 1; 0.95 to 1.00: 2."' in page


def lines_of(*thresholds):
    """The lines that mark thresholds, of answers to rubrics with these."""
    rubrics = {}
    for pass_at, borderline_at in thresholds:
        settings = FileSettings(pass_at=Decimal(pass_at), borderline_at=Decimal(borderline_at))
        rubrics |= load_rubrics(f"r{len(rubrics)}.rubric.yaml", b"rubrics: [Names the pivot]", settings)
    totals = Totals(rubrics.values())
    for rubric in rubrics.values():
        count_outputs(totals, rubric, (True,))
    return re.findall(
        r'<span class="mark" style="left:([\d.]+%)[^>]*><span>([^<]*)</span>', draw(HtmlReport(rubrics), totals)
    )


def test_the_thresholds_are_marked_where_they_are_the_same_for_all():
    assert lines_of(("0.8", "0.6")) == [("80.0%", "pass 0.8"), ("60.0%", "borderline 0.6")]
    assert lines_of(("0.75", "0.75")) == [("75.0%", "pass 0.75")]
    assert lines_of(("0.8", "0.6"), ("0.9", "0.6")) == []


def test_a_checklist_says_what_was_asked_for_and_not_that_it_was_seen():
    record = {"id": "s1", "rubric": "sorting", "output": {"checks": [{"id": "rubric-1", "satisfied": False}]}}
    text = Reader(report(record)).text
    shown = section(text, "The worst answer").split(" | ")[2:]
    assert shown == ["s1", "fail", "sorting", "0.000", "rubric-1", "Names the pivot", "no"]


@pytest.mark.slow
def test_a_suite_of_many_rubrics_shows_the_worst_of_them():
    cases = [{"id": f"case-{number}", "rubrics": ["Names the pivot"]} for number in range(3000)]
    rubrics = load_rubrics("suite.json", json.dumps({"tests": cases}).encode())
    totals = Totals(rubrics.values())
    for number, rubric in enumerate(rubrics.values()):
        count_outputs(totals, rubric, (number % 100 != 7,))
    page = static(draw(HtmlReport(rubrics), totals, "many"))
    assert re.findall(r'<h2 id="rubric-\d+">Criteria of <span dir="auto">(.*?)</span>', page) == [
        f"case-{number}" for number in range(7, 2000, 100)
    ]
    assert "The worst 20 of 3,000 rubrics" in page
    assert len(page) < 100_000


def test_the_keyboard_stops_where_something_can_be_scrolled_and_there_is_a_name():
    long, short = tower("a1", 1, 1, answer="x" * 2000, question="Why?"), tower("a2", 1, 1, answer="So.")
    stops = re.findall(r"<(\w+)([^>]* tabindex=[^>]*)>", report(long, short, tower("a4", 11, 10)))
    assert stops == [
        ("section", ' class="card scroll" tabindex="0" role="region" aria-label="Criteria of tower"'),
        ("dd", ' dir="auto" class="quote long" tabindex="0"'),
        ("section", ' class="card scroll" tabindex="0" role="region" aria-label="Invalid outputs"'),
        ("section", ' class="card scroll" tabindex="0" role="region" aria-label="Answers"'),
    ]


def test_the_page_says_how_many_answers_all_samples_agree_on():
    once, stable, unstable = tower("a1", 9, 9), tower("a2", 9, 9), tower("a3", 9, 9)
    stable["outputs"] = [stable.pop("output")] * 3
    unstable["outputs"] = [unstable.pop("output"), tower("", 0, 0)["output"]]
    assert "| Stable | 50% | answers with one verdict |" in Reader(report(once, stable, unstable)).text
    assert "Stable" not in report(once)


def test_a_run_without_outputs_has_a_page_too():
    assert "Outputs | 0 | Mean score | none | Pass | 0 |" in Reader(report()).text


@pytest.mark.slow
def test_the_page_of_a_run_is_that_of_all_its_results():
    chance = random.Random(5)  # noqa: S311 (a die for scores)
    records = [tower(f"a{at}", chance.randint(0, 10), chance.randint(0, 10), f"Reason {at}.") for at in range(3000)]
    records[700:700] = [tower("twice", 0, 0), tower("invalid", 11, 1), {"id": "s", "rubric": "sorting", "output": "no"}]
    lines = [json.dumps(record).encode() for record in records]
    page = HtmlReport(RUBRICS)
    scoring = ScoringRun(RUBRICS, lambda _: None, Progress(io.StringIO()), page.add)
    scoring.run("a.jsonl", io.BufferedReader(io.BytesIO(b"\n".join(lines))))
    assert static(draw(page, scoring.totals)) == static(report(*records, title="a"))


EVIL = "</dd></style><script>alert(1)</script><img src=x onerror=alert(1)>&amp;\"'"


def test_nothing_that_others_wrote_is_markup():
    names = {"id": EVIL, "question": EVIL, "answer": EVIL, "reference": EVIL}
    evil = load_rubrics("a.rubric.yaml", json.dumps({"rubrics": [{"id": EVIL, "expected_outcome": EVIL}]}).encode())
    page, totals = HtmlReport(evil), Totals(evil.values())
    for output in (
        {"checks": [{"id": EVIL, "satisfied": False, "reasoning": EVIL}], "overall_reasoning": EVIL + "!"},
        EVIL,
    ):
        text = json.dumps({**names, "output": output}).encode()
        page.add(Scorer(evil).score(text, 1, EVIL), text)
    count_outputs(totals, evil["a"], (False,))
    read = Reader(draw(page, totals, EVIL))
    assert "img" not in read.tags
    assert [given for tag, name, given in read.attributes if tag == "script" and name != "id"] == ["application/json"]
    assert read.text.count(EVIL) >= 12
    assert [attribute for attribute in read.attributes if attribute[1].startswith("on")] == []


def test_unseen_characters_are_shown_and_long_texts_are_cut():
    page = static(report(tower("a1", 1, 1, "right \u202eto left\u202c, bell \x07, half \ud83d", answer="x" * 101_000)))
    assert "right \\u202eto left\\u202c, bell \\x07, half \\ud83d" in page
    assert f"{'x' * 100_000}… (1,000 more characters)" in page
    assert "x" * 100_001 not in page
    assert f"{'y' * 4000}… (1,000 more characters)" in report(tower("y" * 5000, 11, 1))


def test_long_reasons_are_limited_in_height_and_whole():
    reason = "It is so. " * 2000
    quotes = re.findall(
        r'<(\w+) dir="auto" class="(quote[^"]*)"([^>]*)>', report(tower("a1", 1, 1, reason, answer="So."))
    )
    assert quotes == [("dd", "quote", ""), ("div", "quote long", ' tabindex="0"')]
    assert reason in report(tower("a1", 1, 1, reason))
    style = report().partition("<style>")[2].partition("</style>")[0]
    assert re.search(r"\.long \{[^}]*max-height: 16rem; overflow: auto;", style)
    assert ".long { max-height: none; background: none; }" in style.partition("@media print")[2]


def figures(count):
    """A page of so many outputs, in all of which the gate is missed in one tenth."""
    totals = Totals(RUBRICS.values())
    count_outputs(totals, RUBRICS["tower"], (10, 10), count - count // 10)
    count_outputs(totals, RUBRICS["tower"], (0, 10), count // 10)
    totals.invalid = count // 20
    page = HtmlReport(RUBRICS)
    text = json.dumps(tower("a1", 0, 1, "Because. " * 500, answer="So. " * 500)).encode()
    page.add(Scorer(RUBRICS).score(text, 1), text)
    return draw(page, totals, "answers by suite")


MEASURE = """\
<script>
addEventListener("load", () => {
const cut = [];
let seen = 0;
for (const frame of document.querySelectorAll("iframe")) {
  const page = frame.contentDocument;
  if (page.documentElement.scrollWidth > frame.width) cut.push(`${frame.width}: the page`);
  for (const each of page.querySelectorAll(".figures dd, .figures dt, td.number, td.number div, .highest, .head *")) {
    seen += 1;
    const card = each.closest(".card, .figures div").getBoundingClientRect();
    const range = page.createRange();
    range.selectNodeContents(each);
    const box = range.getBoundingClientRect();
    if (each.scrollWidth > each.clientWidth + 1 && each.clientWidth || box.right > card.right - 4)
      cut.push(`${frame.width}: ${each.textContent}`);
    if (each.matches(".figures dd") && range.getClientRects().length > 2 + 2 * each.children.length)
      cut.push(`${frame.width}: ${each.textContent} is broken`);
  }
}
document.title = JSON.stringify([seen, cut]);
});
</script>
"""


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium to look at the page with")
def test_no_figure_is_cut_on_a_phone_or_a_wide_screen(tmp_path):
    frames = [
        f'<iframe width="{width}" height="2000" srcdoc="{escape(figures(count))}"></iframe>'
        for count in (1000, 100_000, 1_000_000, 123_456_789, 10**12)
        for width in (400, 1200)
    ]
    page = tmp_path / "frames.html"
    page.write_text("\n".join(["<!doctype html>", *frames, MEASURE]), "utf-8")
    shown = report_pictures.browse(page, tmp_path / "profile", "--dump-dom", "--virtual-time-budget=5000").stdout
    seen, cut = json.loads(unescape(re.search(r"<title>(.*?)</title>", shown)[1]))
    assert (seen > 200, cut) == (True, [])


def test_an_option_of_a_command_is_kept_on_one_line():
    assert keep_options("a --per-criterion, <b> x--y --n=2") == (
        'a <span class="option">--per-criterion</span>, &lt;b&gt; x--y <span class="option">--n</span>=2'
    )


def test_the_page_asks_for_nothing_from_anywhere():
    read = Reader(report(*RECORDS))
    assert {"link", "img", "iframe", "object", "base"} & set(read.tags) == set()
    asked = [attribute for attribute in read.attributes if attribute[1] in {"src", "href", "srcset", "data", "action"}]
    assert [each for each in asked if not each[2].startswith("#")] == []
    assert "url(" not in report(*RECORDS)
    assert "@import" not in report(*RECORDS)
    script = (ROOT / "rubric_lint/report/templates/report.js").read_bytes()
    assert not re.search(rb"(?i)</script|<!--|\bfetch|XMLHttp|import\(|innerHTML|\beval\b", script)
    digest = base64.b64encode(hashlib.sha256(script).digest()).decode()
    nothing = "default-src 'none'; base-uri 'none'; form-action 'none'"
    policy = f"{nothing}; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    assert ("meta", "content", policy) in read.attributes


@pytest.mark.slow
def test_the_report_keeps_no_more_of_many_outcomes_than_of_few(monkeypatch):
    monkeypatch.setattr("rubric_lint.report.page_answers._IN_MEMORY", 1)
    monkeypatch.setitem(PageAnswers.__init__.__kwdefaults__, "most", 100)
    page = HtmlReport(RUBRICS)

    def add(count):
        for number in range(count):
            text = json.dumps(tower(f"a{number}", number % 11, number % 7, "x" * 1000)).encode()
            page.add(Scorer(RUBRICS).score(text, number + 1), text)

    add(300)
    tracemalloc.start()
    add(3000)
    grown, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    page.close()
    assert grown < 500_000


# How it looks


def palettes():
    """The colours of the page in light, in dark and in print, by name."""
    style = report().partition("<style>")[2].partition("</style>")[0]
    blocks = [dict(re.findall(r"--([\w-]+): (#\w+)", block)) for block in re.findall(r":root \{([^}]*)\}", style)]
    light, dark, printed = blocks
    return {"light": light, "dark": {**light, **dark}, "print": {**light, **printed}}


def luminance(colour):
    """WCAG 2.2, relative luminance."""
    digits = colour[1:] if len(colour) == 7 else "".join(digit * 2 for digit in colour[1:])
    shares = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return sum(weight * share for weight, share in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


TEXTS = [
    *((text, back) for text in ("text", "soft") for back in ("page", "card")),
    *((verdict, back) for verdict in ("pass", "borderline", "fail") for back in ("card", f"{verdict}-back")),
]
SHAPES = [(shape, "card") for shape in ("pass", "borderline", "fail", "invalid", "plain")]


@pytest.mark.parametrize("mode", ["light", "dark", "print"])
def test_every_text_and_bar_stands_out_from_its_ground(mode):
    colours = palettes()[mode]
    found = {pair: contrast(*(colours[name] for name in pair)) for pair in (*TEXTS, *SHAPES)}
    # WCAG 2.2, 1.4.3 and 1.4.11, level AA
    assert {pair: ratio for pair, ratio in found.items() if ratio < (4.5 if pair in TEXTS else 3)} == {}


def browse(folder, *options):
    page = folder / "report.html"
    page.write_text(report(*RECORDS, title=EVIL), encoding="utf-8")
    return report_pictures.browse(page, folder / "profile", *options)


def corner(picture):
    """The colour of the first pixel of a PNG, which every filter of its row leaves as it is."""
    assert picture.startswith(b"\x89PNG")
    data, at = b"", 8
    while at < len(picture):
        size, kind = int.from_bytes(picture[at : at + 4]), picture[at + 4 : at + 8]
        data += picture[at + 8 : at + 8 + size] if kind == b"IDAT" else b""
        at += size + 12
    return "#" + zlib.decompressobj().decompress(data, 4)[1:].hex()


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium to look at the page with")
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_a_browser_shows_it_in_the_colours_that_the_reader_prefers(tmp_path, mode):
    browse(tmp_path, report_pictures.prefer(mode), f"--screenshot={tmp_path / 'page.png'}")
    assert corner((tmp_path / "page.png").read_bytes()) == palettes()[mode]["page"]


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium to look at the page with")
def test_a_browser_reads_the_page_as_it_was_meant(tmp_path):
    browse(tmp_path, "--dump-dom")
    address = (tmp_path / "report.html").as_uri()
    read = {"script": False, "open": address, "run": "document.documentElement.outerHTML"}
    seen = Reader(f"<!doctype html>\n{browser.drive([read]).results[0]}")
    meant = Reader((tmp_path / "report.html").read_text("utf-8"))
    assert seen.tags == meant.tags
    assert seen.text == meant.text


# Its pictures


def test_the_pictures_in_the_guide_are_of_the_page_as_it_is_now(tmp_path):
    report_pictures.write_page(tmp_path / "report.html")
    now = report_pictures.digest(tmp_path / "report.html")
    taken = {mode: report_pictures.subject(path.read_bytes()) for mode, path in PICTURES.items()}
    assert taken == {"light": now, "dark": now}, "take them anew: PYTHONPATH=. python tools/report_pictures.py"
    page = (ROOT / "docs/guides/scoring.md").read_text("utf-8")
    shown = set(re.findall(r'(?:src|srcset)="\.\./([^"]*)"', page))
    assert {ROOT / "docs" / name for name in shown} == set(PICTURES.values())
    counts = re.search(r"<footer><p>(.*?)\. SD", (tmp_path / "report.html").read_text("utf-8"))[1]
    assert counts in re.search(r'alt="([^"]*)"', page)[1]


@pytest.mark.parametrize("mode", PICTURES)
def test_a_picture_is_of_the_size_and_in_the_colours_that_it_should_be(mode):
    picture = PICTURES[mode].read_bytes()
    assert (report_pictures.size(picture), corner(picture)) == (report_pictures.SIZE, palettes()[mode]["page"])


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium to take pictures with")
def test_a_picture_can_be_taken_anew(tmp_path):
    report_pictures.write_page(tmp_path / "report.html")
    picture = report_pictures.take("dark", tmp_path / "report.html", tmp_path)
    assert report_pictures.subject(picture) == report_pictures.subject(PICTURES["dark"].read_bytes())
    assert (report_pictures.size(picture), corner(picture)) == (report_pictures.SIZE, palettes()["dark"]["page"])
