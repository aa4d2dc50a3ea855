"""The site: its reference covers the code, its links lead somewhere, and programs can read it."""

import html
import json
import posixpath
import re
from importlib.util import find_spec

import click
import pytest
from cases import read_cases
from website import commands, reference, twins
from website.__main__ import build, complete
from website.assemble import SiteError, describe, expand_navigation, make_pages
from website.check import check_site
from website.reference import published_schemas
from website.sources import ROOT, LinkChange, LinkError, edit_links, find_groups, list_links

from rubric_lint.formats.dialects import DIALECTS, load_dialect
from rubric_lint.model.messages import HOME
from rubric_lint.model.schema_files import catalogue, load
from rubric_lint.rules import BY_NAME, RULES

TABLES = read_cases(__file__)


pytestmark = pytest.mark.repository

if not (ROOT / "tools/website/zensical.toml").exists():
    pytest.skip("the site is not part of the sdist", allow_module_level=True)
PAGES = make_pages()
CONFIG = expand_navigation((ROOT / "tools/website/zensical.toml").read_text("utf-8"), list(PAGES))


def headings(page):
    return re.findall(r"^#+ (.*?)(?: \{ #.*\})?$", PAGES[page], re.MULTILINE)


def subcommands(command, name):
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command, **command.context_settings)
        for inner in command.list_commands(context):
            yield from subcommands(command.get_command(context, inner), f"{name} {inner}")


EVERY_COMMAND = [pair for pair in subcommands(commands.PROGRAMS["rubric-lint"], "rubric-lint") if not pair[1].hidden]


def sections(page):
    """The sections of a page, by anchor."""
    parts = re.split(r"^## .* \{ #(\S+) \}$", PAGES[page], flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_every_command_has_a_section_that_names_its_options_or_is_the_default_of_one():
    described, options = sections("commands/index.md"), sections("commands/options.md")
    for name, command in EVERY_COMMAND:
        group = name.rpartition(" ")[0].replace(" ", "-")
        text = described.get(name.replace(" ", "-")) or described[group]
        assert name.replace(" ", "-") in described or f"`{name}` does the same." in text
        given = [param for param in command.params if isinstance(param, click.Option) and not param.hidden]
        for option in given:
            long = max(option.opts, key=len)
            assert f"[`{long}`](options.md#{long.lstrip('-')})" in text
            assert (
                f"`{option.get_help_record(click.Context(command, **command.context_settings))[0]}`"
                in options[long.lstrip("-")]
            )


def test_the_page_of_commands_begins_with_what_each_program_does():
    first = PAGES["commands/index.md"].split("\n\n")[1]
    assert set(re.findall(r"`(rubric-\w+)`", first)) == set(commands.PROGRAMS)


def test_every_program_with_its_exit_codes_is_on_the_page_of_commands():
    page = PAGES["commands/index.md"]
    assert [name for name, _ in EVERY_COMMAND if f"## `{name}` " not in page and f"`{name}` does" not in page] == []
    assert re.findall(r"^\| (\d+) \|", page, re.MULTILINE) == ["0", "1", "2", "3", "4", "130", "143"]


def test_every_setting_has_a_section():
    sections = [name for name in headings("settings.md") if name.startswith("`")]
    assert sections == [f"`{name}`" for name in load("config/v1.json")["properties"]]


def test_every_rule_has_one_group_a_row_and_a_section():
    grouped = [name for group in find_groups() for name in group.rules]
    assert sorted(grouped) == sorted(rule.name for rule in RULES)
    for group in find_groups():
        assert [name for name in headings(group.page) if name.startswith("`")] == [f"`{name}`" for name in group.rules]
        place = posixpath.basename(group.page)
        for rule in map(BY_NAME.__getitem__, group.rules):
            row = f"| [`{rule.name}`]({place}#{rule.name}) | {rule.summary} | {rule.severity} |"
            assert row in PAGES["rules/index.md"]
            assert f"**Severity:** {rule.severity} · **Fix:** {rule.kinds or 'none'}" in PAGES[group.page]


def test_every_schema_is_published_at_its_id_and_listed():
    published = published_schemas()
    for entry in catalogue():
        bundled = ((form.bundled_id, form.text) for form in entry.forms)
        for url, text in (*bundled, (load(entry.source)["$id"], (ROOT / "schemas" / entry.source).read_text("utf-8"))):
            assert json.loads(published[url.removeprefix(HOME)]) == json.loads(text)
        is_listed = f"]({entry.bundled_id})" in PAGES["schemas/index.md"]
        assert is_listed or entry.source in {load_dialect(name).schema for name in DIALECTS}


def test_every_report_is_described_and_so_is_every_field_of_one():
    for source in ("report", "assessment", "improvement", "scores", "agreement", "show", "diff", "baseline"):
        assert f"schemas/{source}-v1.schema.json" in PAGES["schemas/index.md"]
        schema = load(f"{source}/v1.json")
        parts = [schema, *schema.get("definitions", {}).values(), *schema["properties"].values()]
        fields = [(name, each) for part in parts for name, each in part.get("properties", {}).items()]
        assert [name for name, each in fields if not {"description", "$ref", "const"} & each.keys()] == []


@pytest.mark.parametrize("path", sorted(ROOT.glob("docs/**/*.md")), ids=lambda path: path.stem)
def test_the_lists_of_a_page_are_those_of_the_code(path):
    page = path.read_text("utf-8")
    assert reference.renew(page) == page, "run `make renew`"


def test_an_unknown_list_is_an_error():
    with pytest.raises(reference.ListError, match="unknown list `rulez`; known: rules: Text and YAML, "):
        reference.renew("<!-- list: rulez -->\n<!-- /list -->\n")


def test_every_page_has_a_twin_with_its_text():
    made = twins.make_twins(PAGES)
    assert set(made) == {twins.twin_path(page) for page in PAGES}
    words = re.compile(r"[A-Za-z]{3,}")
    for page, text in PAGES.items():
        assert set(words.findall(edit_links(text, lambda _: ""))) <= set(words.findall(made[twins.twin_path(page)]))


@pytest.mark.parametrize(("text", "summary"), TABLES["the summary of a page"])
def test_the_summary_of_a_page_is_its_first_sentence(text, summary):
    assert twins.page_summary(text) == summary


def test_every_page_has_a_description_of_its_own_in_plain_text():
    said = [describe(text) for text in PAGES.values()]
    assert [each for each in said if not each.endswith(".") or re.search(r"[`*]|\]\(", each)] == []
    assert len(set(said)) == len(said)


def test_a_link_in_a_twin_leads_to_a_twin():
    made = twins.make_twins({"rules/overlap.md": "# overlap\n\n[Bands](../format.md#1)\n", "format.md": "# Format\n"})
    assert made["rules/overlap/index.md"] == "# overlap\n\n[Bands](../../format/index.md#1)\n"


def test_llms_txt_lists_every_page_once_and_the_full_one_holds_them():
    listed = re.findall(rf"\]\({re.escape(HOME)}(\S+)\)", twins.write_index(PAGES, CONFIG))
    assert sorted(listed) == sorted(twins.twin_path(page) for page in PAGES)
    full = twins.write_full(PAGES, CONFIG)
    assert [page for page, text in twins.make_twins(PAGES).items() if text.strip() not in full] == []


def test_a_page_that_the_navigation_lacks_and_one_that_is_missing_are_refused():
    config = 'nav = [\n  "index.md",\n  "guides/*",\n]\n'
    expanded = expand_navigation(config, ["guides/b.md", "guides/a.md", "index.md"])
    assert expanded == 'nav = [\n  "index.md",\n  "guides/a.md",\n  "guides/b.md",\n]\n'
    with pytest.raises(SiteError, match=r"not in the navigation of zensical\.toml: lost\.md"):
        expand_navigation(config, ["index.md", "lost.md"])
    with pytest.raises(SiteError, match=r"names pages that do not exist: index\.md"):
        expand_navigation(config, ["guides/a.md"])


@pytest.mark.parametrize(("target", "becomes"), TABLES["a link becomes one of the site"])
def test_a_link_becomes_one_of_the_site(target, becomes):
    places = {
        "docs/guides/ci.md": "guides/ci.md",
        "docs/format.md": "format.md",
        "rubric_lint/rules/overlap.md": "rules/bands.md#overlap",
    }
    assert LinkChange("docs/guides/ci.md", places, frozenset(places.values()))(target) == becomes


def test_a_link_to_a_file_that_is_not_there_is_an_error():
    with pytest.raises(LinkError, match=r"docs/a\.md: b\.md: no such file in the repository"):
        LinkChange("docs/a.md", {}, frozenset())("b.md")


def test_what_looks_like_a_link_in_code_is_none():
    assert list_links("[a](b.md) `[c](d.md)`\n\n```md\n[e](f.md)\n```\n\n[g](h.md)\n") == ["b.md", "h.md"]


GOOD = '<h1 id="top">Home</h1><a href="rules/#all">Rules</a><link rel="stylesheet" href="a.css">'


@pytest.fixture
def small_site(tmp_path):
    files = {
        "index.html": GOOD,
        "index.md": "[Rules](rules/index.md#all)\n",
        "rules/index.html": f'<h1 id="all">Rules</h1><a href="..#top">Home</a> <a href="{HOME}">Home</a>',
        "rules/index.md": "# Rules\n",
        "a.css": 'p { background: url("data:image/png;base64,AA") }',
        "llms.txt": f"[Rules]({HOME}rules/index.md)\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


def test_a_site_whose_links_lead_somewhere_has_no_faults(small_site):
    assert check_site(small_site) == []


@pytest.mark.parametrize(("name", "text", "fault"), TABLES["a planted fault is found"])
def test_a_planted_fault_is_found(small_site, name, text, fault):
    path = small_site / name
    path.write_text(path.read_text("utf-8") + text, "utf-8")
    assert check_site(small_site) == [fault]


@pytest.mark.skipif(not find_spec("zensical"), reason="Zensical builds the site")
def test_the_site_is_built_without_a_fault_and_takes_the_playground_if_there_is_one(tmp_path):
    site, playground = tmp_path / "site", tmp_path / "made"
    assert build(tmp_path, playground) == []
    assert "was built without the playground" in (site / "playground/index.html").read_text("utf-8")
    playground.mkdir()
    (playground / "index.html").write_text("<title>Playground</title>", "utf-8")
    assert complete(tmp_path, playground, PAGES) == []
    pages = {page: (site / twins.twin_path(page)).with_name("index.html").read_text("utf-8") for page in PAGES}
    assert pages.pop("playground/index.md") == "<title>Playground</title>"
    assert '<span class="option">--format</span>' in pages["guides/scoring.md"]
    assert [page for page, text in pages.items() if 'type="text/markdown" href="index.md"' not in text] == []
    heads = {
        page: (re.findall("<title>(.*?)</title>", text), re.findall('name="description" content="(.*?)"', text))
        for page, text in pages.items()
    }
    assert {page: said for page, (_, said) in heads.items()} == {
        page: [html.escape(describe(PAGES[page]))] for page in pages
    }
    titles = [title for (title,), _ in heads.values()]
    assert len(set(titles)) == len(titles)
    assert (site / "schemas/rubric-v2.schema.json").exists()
