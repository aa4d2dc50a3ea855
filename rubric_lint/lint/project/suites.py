"""Find files as `files.find` does, and with each suite of AgentV the files that it names."""

from collections.abc import Iterable, Iterator

from rubric_lint.formats.dialects import SUITE_FILES, may_name_files
from rubric_lint.lint.project.files import File, FileSearch, Skipped, Unreadable, tidy
from rubric_lint.lint.project.opening import LIMIT, read_file
from rubric_lint.lint.project.settings import SettingsFinder

_YAML = (".yaml", ".yml")


def find(names: Iterable[str], finder: SettingsFinder, skipped: Skipped | None = None) -> Iterator[File | Unreadable]:
    """Find files as `files.find` does, and behind each suite of AgentV those that it names, each once.

    Suites are the YAML files that the user names, and in a folder or a hook those that are named for suites. The
    settings of a file that a suite names say what it is a part of; those of the suite, what is not read with it.
    """
    if skipped is None:
        skipped = Skipped()
    search = FileSearch(finder, skipped)
    found: dict[object, File | Unreadable] = {}
    suites: list[object] = []
    for name in names:
        named = tidy(name)
        for item, identity in search.reach(named):
            if identity in found:
                continue
            found[identity] = item
            if isinstance(item, File):
                is_named = item.name == named and not finder.overrides.force_exclude
                endings = _YAML if is_named else SUITE_FILES
                if item.name.lower().endswith(endings) and _names_files(item.name):
                    suites.append(identity)
    if not suites:
        return iter(found.values())
    from rubric_lint.lint.project.following import Following  # noqa: PLC0415  (few suites name files)

    return iter(Following(search, found).follow(suites))


def _names_files(name: str) -> bool:
    try:
        return may_name_files(read_file(name, LIMIT))
    except (OSError, ValueError):  # reading it again reports why
        return False


def look_at_stdin(file: File, data: bytes) -> File:
    """Return stdin with what it names among its settings: none of these files is read with it."""
    if not may_name_files(data):
        return file
    from rubric_lint.lint.project.following import refuse_all  # noqa: PLC0415  (as above)

    return refuse_all(file, data, "stdin is read alone; name the files to check them")
