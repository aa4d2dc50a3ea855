"""Random rubrics of each shape, as plain v2 data, with texts that YAML, Python, JSON or Markdown could take wrongly."""

from decimal import Decimal

from hypothesis import strategies as st

from rubric_lint.convert.export.entries import as_entries

ODD = (
    "yes", "no", "on", "null", "~", "1", "1.0", "0o17", "1_000", "12:30:45", "2026-01-01", ".inf", "a: b",
    "a #b", "# a", "- a", "? a", "! a", "&a", "*a", "@a", "%a", "`a`", "{a}", "[a]", "'a'", '"a"', "a\\nb",
    "\\", "a\nb", "a\n\nb", "a\n", "\na", "a\n b", " a", "a ", "\ta", "a\t", "a \nb", "\N{GRINNING FACE}",
    "\N{NO-BREAK SPACE}a", "a\u2028b", "a\u0085b", "a\N{ZERO WIDTH JOINER}b", "\ufeffa", "\x1b[31m", "a|b",
    "a\r\nb", "<b>", "&amp;", "__a__", "*a*", "---", "...", "=", "<<", "a" * 300, "{{ a }}", "${a}", "%s",
    "{% raw %}", "{% endraw %}", "{# a #}", "a #}", "{#}", "{{{ a }}}", "{{% a %}}", "a{", "{{ env.HOME | upper }}",
    '{{ "{{" }}', "file://a", "{%- if a -%}", "a }} b", "@team", "#12",
)  # fmt: skip

texts = st.sampled_from(ODD) | st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=20
).filter(lambda text: text.replace("\ufeff", "").strip())  # to JSON Schema that mark is white space
ids = st.text(st.characters(categories=["Ll", "Nd", "Pd"], max_codepoint=0x24F), min_size=1, max_size=6).filter(
    str.strip
)
weights = st.sampled_from(["0.5", "1", "1.0", "2.0", "3", "0.1", "7e-3", "1.5e3", "100", "0"])


@st.composite
def bands(draw, *, gaps=False):
    """A list of bands over 0 to 10."""
    cuts = sorted(draw(st.sets(st.integers(1, 10), max_size=4)))
    ranges = list(zip([0, *cuts], [cut - 1 for cut in cuts] + [10], strict=True))
    if gaps and len(ranges) > 2:
        ranges.pop(1)
    found = [{"score_range": list(item), "expected_outcome": draw(texts)} for item in ranges]
    return draw(st.permutations(found))


@st.composite
def listed(draw, entries):
    """A list of entries with an id each; one has a weight above 0."""
    names = draw(st.lists(ids, min_size=1, max_size=4, unique=True))
    found = [{"id": name, **draw(entries)} for name in names]
    if not any(Decimal(entry.get("weight", "1")) for entry in found):
        found[0]["weight"] = "1"
    return found


@st.composite
def scales(draw):
    """A criterion with levels."""
    numbers = draw(st.lists(st.integers(-5, 20), min_size=2, max_size=5, unique=True))
    level = {"expected_outcome": texts}
    levels = [{"level": number, **draw(st.fixed_dictionaries(level, optional={"name": texts}))} for number in numbers]
    gates = {"required_min_level": st.sampled_from(numbers)}
    return {"levels": levels} | draw(
        st.fixed_dictionaries({}, optional={"weight": weights, "expected_outcome": texts} | gates)
    )


SHAPES = {
    "checklist": listed(
        st.fixed_dictionaries(
            {"expected_outcome": texts}, optional={"weight": weights, "required_min_score": st.just(10)}
        )
    ),
    "score_ranges": listed(
        st.fixed_dictionaries(
            {"score_ranges": bands()},
            optional={"weight": weights, "expected_outcome": texts, "required_min_score": st.integers(0, 10)},
        )
    ),
    "holistic": bands(),
    "levels": listed(scales()),
}
rubrics = st.one_of(*SHAPES.values())


def written_out(rubric):
    """What a rubric says, whether it leaves it to a default, writes it as a map or puts it into another order."""
    entries = [normalised(entry, number) for number, entry in enumerate(as_entries(rubric), 1)]
    return sorted(entries, key=lambda entry: entry["score_range"]) if rubric.criteria == () else entries


def normalised(entry, number):
    entry = {"expected_outcome": entry} if isinstance(entry, str) else dict(entry)
    if "score_range" not in entry:
        entry.setdefault("id", f"rubric-{number}")
        entry["weight"] = float(entry.get("weight", 1))
        if not entry.get("required_min_score"):  # a gate of 0 is none
            entry.pop("required_min_score", None)
    if isinstance(ranges := entry.get("score_ranges"), list):
        entry["score_ranges"] = sorted(ranges, key=lambda band: band["score_range"])
    if levels := entry.get("levels"):
        entry["levels"] = sorted(levels, key=lambda level: level["level"])
    return entry
