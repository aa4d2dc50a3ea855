"""Text to documents, by the parser that the name of the file asks for."""

import gc
import re
from dataclasses import replace

from ruamel.yaml.error import YAMLError

from rubric_lint.build import Builder
from rubric_lint.document import Document
from rubric_lint.events import SyntaxFaultError, open_c_parser, open_json, open_pure_parser
from rubric_lint.source import Source


def read_documents(source: Source) -> tuple[list[Document], list[SyntaxFaultError]]:
    """All documents of a file, by the suffix of its name, and the faults met; a faulty line of JSON Lines is one."""
    name = source.name.lower()
    was_enabled = gc.isenabled()
    gc.disable()  # nothing here is garbage until it is all read; collecting in between costs several times the reading
    try:
        if name.endswith(".jsonl"):
            return _read_lines(source)
        if name.endswith(".json"):
            return _number(Builder(source, is_yaml=False).build(open_json(source.text))), []
        return _number(_read_yaml(source)), []
    except SyntaxFaultError as fault:
        return [], [fault]
    finally:
        if was_enabled:
            gc.enable()


def _read_yaml(source: Source) -> list[Document]:
    try:
        if next_event := open_c_parser(source.text):
            return Builder(source).build(next_event)
    except YAMLError:
        pass  # libyaml refuses some good YAML, and words its refusals worse: the pure parser decides
    try:
        return Builder(source).build(open_pure_parser(source.text))
    except SyntaxFaultError:
        spaced = _TAB_BESIDE.sub(lambda found: found[0].replace("\t", " "), source.text)
        if spaced == source.text:
            raise
        try:  # both parsers refuse tabs where YAML 1.2 has white space of any kind
            return Builder(source).build(open_pure_parser(spaced))
        except SyntaxFaultError:
            pass
        raise


# Tabs that indent nothing: on lines of white space, before comments, after the dash of a list item.
_TAB_BESIDE = re.compile(r"^[ \t]*\t[ \t]*(?=[\r\n#]|\Z)|(?<=-)[ ]*\t[ \t]*(?=\S)", re.MULTILINE)


def _read_lines(source: Source) -> tuple[list[Document], list[SyntaxFaultError]]:
    """The documents of JSON Lines. A line that is none keeps its number, so that those below it have theirs."""
    documents: list[Document] = []
    faults: list[SyntaxFaultError] = []
    number = 0
    for line in range(1, source.line_count + 1):
        start, end = source.line_span(line)
        if not source.text[start:end].strip():
            continue
        try:
            built = Builder(source, start, is_yaml=False).build(open_json(source.text, start, end))
            documents += [replace(document, number=number) for document in built]
        except SyntaxFaultError as fault:
            faults.append(fault)
        number += 1
    return documents if number > 1 else [replace(document, number=None) for document in documents], faults


def _number(documents: list[Document]) -> list[Document]:
    if len(documents) < 2:
        return documents
    return [replace(document, number=number) for number, document in enumerate(documents)]
