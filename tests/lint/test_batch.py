"""Large runs: the same results in the same order, however the work is shared, and whatever becomes of the workers."""

import multiprocessing
import os
import signal

import pytest

from rubric_lint.lint.project.files import File, Unreadable
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.lint.run import batch, workers
from rubric_lint.lint.run.cache import Cache

CLEAN = "rubrics:\n  - {id: a, expected_outcome: Cites two sources}\n"
FAULTY = "rubrics:\n  - id: a\n    wieght: 1\n    expected_outcome: Cites two sources\n"


@pytest.fixture
def files(folder, monkeypatch):
    """More files than one process takes on: clean ones, faulty ones, and some that cannot be read."""
    monkeypatch.setattr(batch, "WORTH_PROCESSES", 20)
    found = []
    for number in range(300):
        name = f"{number:03}.yaml"
        if number % 50:
            (folder / name).write_text(FAULTY if number % 7 == 0 else CLEAN, encoding="utf-8")
        found.append(File(name, FileSettings()))
    found[100] = Unreadable("100.yaml", "is a riddle")
    return found


def outcomes(files, processes, cache=None):
    """What became of each file, in words."""
    return [(file, word(each)) for file, each in batch.lint_files(files, cache=cache, processes=processes)]


def word(outcome):
    if isinstance(outcome, Unreadable):
        return outcome
    if isinstance(outcome, Exception):
        return repr(outcome)
    return outcome.source.name, outcome.rubrics, [(finding.message, finding.span) for finding in outcome.findings]


@pytest.mark.slow
@pytest.mark.parametrize("processes", [2, 3, 7])
def test_several_processes_say_what_one_says(files, processes):
    alone = outcomes(files, 1)
    assert outcomes(files, processes) == alone
    assert [file for file, _ in alone] == files


@pytest.mark.slow
def test_where_nothing_can_be_forked_new_processes_do_it(files, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(workers, "_CAN_FORK", False)
        shared = outcomes(files, 2)
    assert shared == outcomes(files, 1)


@pytest.mark.slow
@pytest.mark.parametrize("number", [0, 37, 299])
def test_the_work_of_a_worker_that_dies_is_done_by_the_parent(files, monkeypatch, number):
    parent, lint_bytes = os.getpid(), batch.lint_bytes

    def die(file, data):
        if os.getpid() != parent and file.name == f"{number or 1:03}.yaml":
            os.kill(os.getpid(), signal.SIGKILL)
        return lint_bytes(file, data)

    alone = outcomes(files, 1)
    monkeypatch.setattr(batch, "lint_bytes", die)
    assert outcomes(files, 2) == alone


@pytest.mark.slow
def test_when_all_workers_die_the_parent_does_it_all(files, monkeypatch):
    alone = outcomes(files, 1)
    monkeypatch.setattr(workers, "_work", lambda *_: os._exit(1))
    assert outcomes(files, 3) == alone


@pytest.mark.slow
@pytest.mark.parametrize("spare", [0, 1, 2, 4, 9, 12])
def test_where_no_more_workers_can_be_had_fewer_do(files, spare):
    resource = pytest.importorskip("resource")
    alone = outcomes(files, 1)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest = os.open(os.devnull, os.O_RDONLY)  # all below are taken
    os.close(lowest)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest + 1 + spare, limits[1]))  # one is for the file that is read
    try:
        assert outcomes(files, 20) == alone
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert multiprocessing.active_children() == []


@pytest.mark.slow
def test_an_interrupt_of_a_worker_is_for_the_parent_alone(files, monkeypatch, capfd):
    parent, lint_bytes = os.getpid(), batch.lint_bytes

    def interrupt(file, data):
        if os.getpid() != parent:
            os.kill(os.getpid(), signal.SIGINT)
        return lint_bytes(file, data)

    monkeypatch.setattr(batch, "lint_bytes", interrupt)
    assert outcomes(files, 2) == outcomes(files, 1)
    assert capfd.readouterr().err == ""


@pytest.mark.slow
def test_a_fault_of_the_tool_comes_back_as_an_exception(files, monkeypatch):
    lint_bytes = batch.lint_bytes
    fault = ZeroDivisionError("111")
    monkeypatch.setattr(
        batch, "lint_bytes", lambda file, data: fault if file.name == "111.yaml" else lint_bytes(file, data)
    )
    assert outcomes(files, 2)[111] == (files[111], repr(fault))


@pytest.mark.slow
def test_what_workers_find_is_kept_in_the_cache(files, tmp_path):
    first = Cache(tmp_path / "cache")
    fresh = outcomes(files, 2, first)
    first.save()
    again = Cache(tmp_path / "cache")
    assert len(again) == 294
    assert outcomes(files, 2, again) == fresh


@pytest.mark.slow
def test_leaving_early_leaves_no_process_behind(files):
    run = batch.lint_files(files, processes=2)
    next(run)
    run.close()
    assert multiprocessing.active_children() == []
