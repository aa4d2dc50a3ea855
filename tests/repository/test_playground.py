"""The playground's stand-in for rpds acts as rpds does; the page itself is tested by `make test-playground`."""

import importlib.util
import json
import re
from pathlib import Path

import rpds
from hypothesis import given
from hypothesis import strategies as st

PLAYGROUND = Path(__file__).parents[2] / "playground"
KEYS = st.text("abc", max_size=2)
ITEMS = st.lists(st.tuples(KEYS, st.integers()), max_size=5)


def load():
    spec = importlib.util.spec_from_file_location("rpds_stand_in", PLAYGROUND / "python/rpds/__init__.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


stand_in = load()


def outcome(act, *arguments):
    """What a call returns, as plain data, or the error that it raises."""
    try:
        value = act(*arguments)
    except KeyError as fault:
        return repr(fault)
    if isinstance(value, stand_in.HashTrieMap | rpds.HashTrieMap):
        return dict(value.items())
    return set(value)


@given(ITEMS, ITEMS, KEYS, st.integers())
def test_a_map_changes_as_that_of_rpds(items, others, key, value):
    for steps in (
        [],
        [("insert", key, value)],
        [("remove", key)],
        [("update", dict(others))],
        [("update", others, {key: value})],
        [("insert", key, value), ("remove", key)],
    ):
        ours, theirs = stand_in.HashTrieMap(items), rpds.HashTrieMap(items)
        for name, *arguments in steps:
            before = dict(ours)
            found = [outcome(getattr(each, name), *arguments) for each in (ours, theirs)]
            assert found[0] == found[1]
            assert dict(ours) == before
            if isinstance(found[0], str):
                break
            ours, theirs = (getattr(each, name)(*arguments) for each in (ours, theirs))
        assert (len(ours), key in ours, ours.get(key)) == (len(theirs), key in theirs, theirs.get(key))
        assert sorted(ours) == sorted(theirs)
        assert ours == stand_in.HashTrieMap(dict(theirs)) == stand_in.HashTrieMap.convert(ours)
        assert hash(ours) == hash(stand_in.HashTrieMap(reversed([*ours.items()])))


@given(st.lists(KEYS), st.lists(KEYS), KEYS)
def test_a_set_changes_as_that_of_rpds(values, others, value):
    ours, theirs = stand_in.HashTrieSet(values), rpds.HashTrieSet(values)
    for name, argument in (("insert", value), ("update", others), ("discard", value), ("remove", value)):
        assert outcome(getattr(ours, name), argument) == outcome(getattr(theirs, name), argument)
    assert set(ours) == set(values)
    assert (len(ours), value in ours) == (len(theirs), value in theirs)


@given(st.lists(KEYS), KEYS)
def test_a_list_grows_as_that_of_rpds(values, value):
    ours, theirs = stand_in.List(values), rpds.List(values)
    assert [*ours] == [*theirs]
    assert [*ours.push_front(value)] == [*theirs.push_front(value)]
    assert [*stand_in.List(value, value)] == [*rpds.List(value, value)]
    assert len(ours) == len(theirs)


def test_what_it_installs_is_exact_and_names_no_host():
    manifest = json.loads((PLAYGROUND / "package.json").read_text("utf-8"))
    versions = {**manifest["dependencies"], **manifest["devDependencies"]}.values()
    assert [version for version in versions if not re.fullmatch(r"\d+\.\d+\.\d+", version)] == []
    assert "resolved" not in (PLAYGROUND / "package-lock.json").read_text("utf-8")


def test_its_wheels_are_those_that_are_locked_for_the_native_tool():
    wheels = re.findall(
        r"^([\w.-]+)==(\S+) (--hash=\S+)$", (PLAYGROUND / "requirements.txt").read_text("utf-8"), re.MULTILINE
    )
    locks = (PLAYGROUND.parent / ".ci/lock/run.txt").read_text("utf-8").split("\n\n")[0]
    assert len(wheels) == 8
    for name, version, digest in wheels:
        locked = re.search(rf"^{re.escape(name.replace('.', '-'))}==(\S+)[^#]*", locks, re.MULTILINE)
        assert (locked[1], digest in locked[0]) == (version, True)
