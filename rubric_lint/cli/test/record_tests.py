"""Record the outputs that tests need, for `rubric-test --record`."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from rubric_lint.cli.exits import Exit
from rubric_lint.cli.score.models import Access, Model, find_access, make_plan
from rubric_lint.messages import join_words, visible
from rubric_lint.project.files import File, Unreadable
from rubric_lint.run.console import complain

if TYPE_CHECKING:
    from rubric_lint.judge.asking import Plan
    from rubric_lint.testing.recorder import Recorder
    from rubric_lint.testing.running import Needed, Runner

_MOST_NAMED = 5


def record_outputs(
    files: Iterable[File | Unreadable], runner: "Runner", models: Sequence[Model], **asking: Any
) -> Exit:
    """Have models judge what the tests of files need, and return the exit code of that; say the requests before."""
    from rubric_lint.scoring.scorer import name_models  # noqa: PLC0415
    from rubric_lint.testing import recorder  # noqa: PLC0415

    for file in files:
        if isinstance(file, File):
            runner.run(file)
    tasks = [
        (path, tested, needed)
        for tested in runner.tested.values()
        for path, group in recorder.group_by_file(tested)
        if (needed := _keep_possible(path, group))
    ]
    if not tasks:
        click.echo("Nothing to record: every test has a recorded output that counts, or cannot be judged.", err=True)
        return Exit.CLEAN
    access, plan = find_access(models, asking), make_plan(asking)
    names = name_models((call.model, call.endpoint) for call in access.calls)
    tasks = [
        (path, tested, [recorder.widen(need, tested, names, plan.samples) for need in needed])
        for path, tested, needed in tasks
    ]
    for path, tested, needed in tasks:
        requests = recorder.describe_requests(needed, tested, len(models), plan)
        click.echo(f"{visible(path)}: {requests}", err=True)
    code = Exit.CLEAN
    for path, tested, needed in tasks:
        results = recorder.Recorder(path, tested, needed)
        code = max(code, _record(results, len(needed), access, plan, asking))
    return Exit.USAGE if code == Exit.USAGE else Exit.CLEAN  # the tests themselves say what is still missing


def _keep_possible(path: str, needed: "list[Needed]") -> "list[Needed]":
    """Return the tests that a model can judge, and say which it cannot."""
    from rubric_lint.testing.recorder import find_case  # noqa: PLC0415
    from rubric_lint.testing.starting import is_to_write  # noqa: PLC0415

    if not path.lower().endswith(".jsonl"):
        complain(f"{path}: outputs are recorded as JSON Lines; give the file a name that ends in .jsonl")
        return []
    cases = [(need, find_case(need)) for need in needed]
    silent = [need for need, case in cases if case is None]
    unwritten = [need for need, case in cases if case is not None and is_to_write(case.answer)]
    _tell_unjudged(silent, "as a judge needs the `answer`")
    _tell_unjudged(unwritten, "as the `answer` is a placeholder; write one")
    left_out = {*map(id, silent), *map(id, unwritten)}
    return [need for need in needed if id(need) not in left_out]


def _tell_unjudged(needed: "list[Needed]", why: str) -> None:
    if not needed:
        return
    more = len(needed) - _MOST_NAMED
    named = [f"`{need.test.id}`" for need in needed[:_MOST_NAMED]] + ([f"{more} more"] if more > 0 else [])
    complain(f"{needed[0].file.name}: not recorded, {why}: {join_words(named)}")


def _record(recorder: "Recorder", count: int, access: Access, plan: "Plan", asking: Mapping[str, Any]) -> Exit:
    """Have the models judge the answers of one file."""
    from rubric_lint.cli.score.judging import run_judge  # noqa: PLC0415  (asyncio)

    try:
        panel = access.connect(asking["rpm"], asking["tpm"], plan.concurrency)
    except ImportError:
        complain("judging needs the openai package; install it with: pip install 'rubric-lint[judge]'")
        return Exit.USAGE
    return run_judge(panel, recorder, recorder.list_answers(), count, plan, has_verdicts=False)
