"""Tell which files the rewriting for another release of AgentV takes, so that every command gives one answer."""

from contextlib import suppress

from rubric_lint.dialects.search.agentv_parts import is_of_agentv, is_suite, is_template
from rubric_lint.dialects.search.agentv_suites import EVAL_FILES
from rubric_lint.format.rubric import Rubric
from rubric_lint.format.schema import suite_lists
from rubric_lint.lint.engine import build_rubrics
from rubric_lint.project.settings import FileSettings
from rubric_lint.text.document import Document
from rubric_lint.text.reading import read_documents
from rubric_lint.text.source import Source, UndecodableError


def is_agentv_suite(name: str, data: bytes, settings: FileSettings) -> bool:
    """Return whether a file is a suite, a file of cases or a template of AgentV, of any age, or a suite of ours.

    Such a file is rewritten. A file that only has a rubric, and one of another system, is written anew.
    """
    with suppress(UndecodableError):
        documents, faults = read_documents(Source.from_bytes(name, data))
        if faults:
            return name.lower().endswith(EVAL_FILES)
        return any(_is_agentvs(document, build_rubrics(document, settings)) for document in documents)
    return False


def _is_agentvs(document: Document, rubrics: list[Rubric]) -> bool:
    if not rubrics:
        return is_of_agentv(document)
    own = [each for each in rubrics if not each.dialect or each.dialect.startswith("agentv")]
    lists = suite_lists("cases")
    is_row = isinstance(document.data, list) or document.source.name.lower().endswith(".jsonl")
    is_inside = any(not lists.isdisjoint(map(str, each.path)) for each in own)  # also cases of inner suites
    return bool(own) and (is_row or is_inside or is_suite(document) or is_template(document))
