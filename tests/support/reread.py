"""What a text of a test holds, once it is changed."""

import re

from styled_suites import read_data


def read(name, data):
    documents = read_data(name, data)
    return [plain(document) for document in documents] if name.endswith(".yaml") else documents


def plain(value):
    """Data as JSON would have it, without the line end that some styles of text bring along."""
    match value:
        case dict():
            return {str(key): plain(item) for key, item in value.items()}
        case list():
            return [plain(item) for item in value]
        case str():
            return value.removesuffix("\n")
        case _:
            return value


COMMENT = re.compile(r"# note \d+")
