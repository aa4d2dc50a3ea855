"""What a search for files leaves out, so that the summary can say so."""

from dataclasses import dataclass, field

_OTHER_KINDS = {
    ".csv": "CSV",
    ".tsv": "TSV",
    ".md": "Markdown",
    ".markdown": "Markdown",
    ".rst": "reStructuredText",
    ".txt": "plain text",
    ".log": "a log",
    ".py": "Python",
    ".ipynb": "a notebook",
    ".js": "JavaScript",
    ".ts": "TypeScript",
    ".sh": "a shell script",
    ".html": "HTML",
    ".xml": "XML",
    ".toml": "TOML",
    ".ini": "INI",
    ".gz": "compressed",
    ".zip": "compressed",
    ".zst": "compressed",
    ".parquet": "Parquet",
}
"""Kinds of files that are not read, by the end of their names."""


def name_other_kind(name: str) -> str:
    """Return what a file is by its name, empty where it may be YAML or JSON."""
    base = name.lower()
    return next((kind for suffix, kind in _OTHER_KINDS.items() if base.endswith(suffix)), "")


@dataclass
class Skipped:
    """What a search left out.

    `dead`: links that lead nowhere, pipes and the like. `outside`: links to files outside of the repository, or of the
    folder that is searched where there is none. `other_kinds`: files that were named and are neither YAML nor
    JSON, each with what it is. `files` and `folders` are counts of what the settings exclude.
    """

    dead: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    other_kinds: list[tuple[str, str]] = field(default_factory=list)
    files: int = 0
    folders: int = 0

    def exclude(self, *, is_folder: bool) -> None:
        """Count something that the settings exclude."""
        if is_folder:
            self.folders += 1
        else:
            self.files += 1

    def add(self, other: "Skipped") -> None:
        """Add what another search left out."""
        self.dead += other.dead
        self.outside += other.outside
        self.other_kinds += other.other_kinds
        self.files += other.files
        self.folders += other.folders

    def word_other_kinds(self) -> list[str]:
        """Say of each file of another kind why it is not read."""
        reads = "rubric-lint reads YAML, JSON and JSON Lines"
        return [f"{name}: not read, as it is {kind}; {reads}" for name, kind in self.other_kinds]
