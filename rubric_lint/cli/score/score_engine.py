"""Run `rubric-score --engine ray`: score Parquet files on a cluster into a folder."""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from rubric_lint.cli.exits import Exit
from rubric_lint.cli.score.score_files import STDIN
from rubric_lint.cli.score.score_output import check_output
from rubric_lint.run.console import complain
from rubric_lint.run.progress import Progress

if TYPE_CHECKING:
    from rubric_lint.engines.cluster import Done, Folder, Plan, Worker
    from rubric_lint.scoring.grading import ScoringRubric
    from rubric_lint.scoring.totals import Totals


class Cluster(NamedTuple):
    """The address of a cluster, or None for one on this machine with so many workers; None for one for each core."""

    address: str | None
    jobs: int | None


def check_engine(
    engine: str | None,
    outputs: Sequence[str],
    output: str | None,
    address: str | None,
    *,
    report: str | None,
    compact: bool,
    jobs: int | None,
    form: str | None,
) -> None:
    """Reject an output that cannot be written, and options that contradict --engine, or need it.

    Raises:
        click.UsageError: when they do.
    """
    if engine is None:
        if address:
            raise click.UsageError("--address is for --engine; add --engine ray")
        check_output(output, form, report, compact=compact)
    elif not output:
        raise click.UsageError("--engine writes a folder; name it with -o FOLDER")
    elif report:
        raise click.UsageError("--report cannot be combined with --engine")
    elif compact:
        raise click.UsageError("--compact is for JSON Lines; --engine writes Parquet")
    elif jobs and address:
        raise click.UsageError("--jobs is for this machine; leave it out with --address")
    elif STDIN in outputs:
        raise click.UsageError("--engine reads Parquet files, not stdin; name them")


def score_by_engine(
    rubrics: "dict[str, ScoringRubric]",
    files: Sequence[str],
    output: str,
    write: Callable[[bytes], object],
    *,
    address: str | None,
    jobs: int | None,
    extract: str,
    mapping: Mapping[str, str],
    form: str | None,
    quiet: bool,
    judge: "Callable[[Totals], Exit]",
) -> Exit:
    """Score files on a cluster, as far as no earlier run did; write all totals and warnings, then `judge` them."""
    from rubric_lint.engines import NEEDS_RAY  # noqa: PLC0415  (loads the scorer)

    try:
        from rubric_lint.engines.cluster import (  # noqa: PLC0415
            Folder,
            FolderError,
            PlanError,
            Review,
            Worker,
            make_plan,
        )
    except ImportError:
        complain(NEEDS_RAY)
        return Exit.USAGE
    from rubric_lint.arrow import map_batches  # noqa: PLC0415
    from rubric_lint.cli.terminal import make_look  # noqa: PLC0415
    from rubric_lint.project.writing import WriteError  # noqa: PLC0415
    from rubric_lint.report.scores import FORMS  # noqa: PLC0415
    from rubric_lint.scoring.loading import RubricError  # noqa: PLC0415

    form = form or ("table" if sys.stdout.isatty() else "jsonl")
    writer = FORMS[form](lambda text: write(text.encode("utf-8", "backslashreplace")), make_look())
    try:
        score = map_batches(rubrics, extract=extract)
        plan = make_plan(files, score, rubrics, extract=extract, mapping=mapping)
        with Folder(Path(output), plan) as folder:
            done = folder.prepare()
            work = Worker(score, str(folder.path.resolve()), plan.key, mapping)
            cluster = Cluster(address or os.environ.get("RAY_ADDRESS"), jobs)
            if code := _score_parts(plan, folder, work, done, cluster):
                return code
            review = Review(plan, folder, done)
            for lines in review.results() if form == "table" else ():
                writer.add(lines)
            totals = review.add_up(rubrics)
            writer.end(totals)
            for warning in review.warnings():
                complain(warning)
            if form != "table" and not quiet:
                complain(str(totals))
            return judge(totals)
    except (FolderError, WriteError) as fault:
        complain(f"{output}: {fault}")
    except (PlanError, RubricError) as fault:
        complain(str(fault))
    return Exit.USAGE


def _score_parts(plan: "Plan", folder: "Folder", work: "Worker", done: "dict[int, Done]", cluster: "Cluster") -> Exit:
    """Score the parts that are not done, and add them to `done`; say why if some are left."""
    from rubric_lint.engines.cluster import EngineError, connect, run_parts  # noqa: PLC0415

    progress = Progress(sys.stderr, "scoring", "outputs", plan.rows)
    progress.done = sum(each.rows for each in done.values())
    if done:
        complain(
            f"{folder.path}: {len(done):,} of {len(plan.parts):,} parts are done ({progress.done:,} of {plan.rows:,} "
            "outputs) and are skipped"
        )
    left = [part for part in plan.parts if part.number not in done]
    fault, code = "", Exit.USAGE
    try:
        with ExitStack() as connected:
            connected.callback(progress.clear)
            if left:
                connected.enter_context(connect(*cluster))
            for outcome in run_parts(left, work) if left else ():
                if isinstance(outcome, str):
                    fault = outcome
                    break
                if folder.find(plan.parts[outcome.number]) is None:
                    name = plan.parts[outcome.number].name
                    fault = f"{folder.path}: a worker wrote {name} elsewhere; name a folder that all workers share"
                    break
                done[outcome.number] = outcome
                progress.done += outcome.rows
                progress.show()
    except EngineError as gone:
        fault = str(gone)
    except KeyboardInterrupt:
        fault, code = "interrupted", Exit.INTERRUPTED
    folder.clean()
    if not fault:
        return Exit.CLEAN
    late = {part.number: found for part in left if part.number not in done and (found := folder.find(part))}
    done.update(late)  # written, but not yet heard of
    parts = f"{len(done):,} of {len(plan.parts):,} parts are done"
    complain(f"{fault}; {parts}; run this again to score the others" if done else fault)
    return code
