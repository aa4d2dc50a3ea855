"""The replies that are kept for later runs."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest

from rubric_lint.judge.call import Call
from rubric_lint.judge.endpoint import Exchange
from rubric_lint.judge.store import NAME, ReplyStore, make_key
from rubric_lint.scoring.records.reply import Reply, Tokens

EXCHANGE = Exchange(Reply("8", None, Tokens(100, 10, 90), "m-1"), datetime(2026, 11, 18, 11, 6, 40, 5, UTC), 0.25)


def test_a_reply_comes_back_as_it_was_and_says_that_it_was_kept(tmp_path):
    with ReplyStore(tmp_path / "new/folder") as store:
        assert store.get("a") is None
        store.put("a", EXCHANGE)
        store.put("b", Exchange(Reply("\ud800"), None, None))
    with ReplyStore(tmp_path / "new/folder") as store:
        assert (store.get("a"), store.fault) == (EXCHANGE._replace(is_cached=True), "")
        assert store.get("b") == Exchange(Reply("\ud800"), None, None, is_cached=True)


def test_only_the_latest_are_kept(tmp_path):
    with ReplyStore(tmp_path, most=3) as store:
        for number in range(5):
            store.put(f"{number}", EXCHANGE)
        store.put("1", EXCHANGE)  # again, so that it is the latest
    with ReplyStore(tmp_path, most=3) as store:
        assert [number for number in range(5) if store.get(f"{number}")] == [1, 3, 4]


@pytest.mark.parametrize(
    "reply",
    [
        *("", "[]", "{}", '{"text": 7}', '{"text": "8", "model": null, "seconds": "x"}', "[" * 100_000),
        *(f'{{"text": "8", "model": null, "sent": null, "seconds": {odd}, "tokens": []}}' for odd in ("NaN", "1e999")),
    ],
    ids=lambda reply: reply[:40],
)
def test_a_damaged_reply_is_none(tmp_path, reply):
    with ReplyStore(tmp_path):
        pass
    with sqlite3.connect(tmp_path / NAME) as database:
        database.execute("INSERT INTO replies (key, reply) VALUES ('a', ?)", (reply,))
    database.close()
    with ReplyStore(tmp_path) as store:
        assert (store.get("a"), store.fault) == (None, "")


def test_many_open_it_at_once(tmp_path):
    def work(name):
        with ReplyStore(tmp_path) as store:
            store.put(name, EXCHANGE)
            return store.fault, store.get(name)

    with ThreadPoolExecutor(8) as workers:
        found = list(workers.map(work, map(str, range(32))))
    assert found == [("", EXCHANGE._replace(is_cached=True))] * 32


def test_a_folder_that_cannot_be_used_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with ReplyStore(tmp_path / "file") as store:
        store.put("a", EXCHANGE)
        assert (store.get("a"), "File exists" in store.fault) == (None, True)


def test_the_key_depends_on_the_meaning_of_a_request_and_not_on_its_form():
    call = Call("m")
    body = {"model": "m", "messages": [], "seed": 1}
    same = {"seed": 1, "messages": [], "user": "me", "metadata": {"a": 1}, "model": "m"}
    assert make_key(call, body, 1) == make_key(call, same, 1)
    others = [
        make_key(call, body, 2),
        make_key(call, {**body, "seed": 2}, 1),
        make_key(Call("m", "http://127.0.0.1/v1"), body, 1),
        make_key(Call("m", headers=(("x-route", "b"),)), body, 1),
        *(make_key(each, each.make_body((), {}), 1) for each in (Call("m"), Call("n"), Call("m", temperature=0.5))),
        make_key(call, Call("m", response_format="text").make_body((), {}), 1),
    ]
    assert len({make_key(call, body, 1), *others}) == 9
    assert make_key(Call("m", "https://me:secret@example.org/v1"), body, 1) == make_key(
        Call("m", "https://example.org/v1"), body, 1
    )
