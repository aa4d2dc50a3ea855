"""Define tables of cells that know their places, whatever file they come from."""

from typing import NamedTuple


class Place(NamedTuple):
    """A place in a table: `full` as messages begin, and `short` as messages refer to another place of the file."""

    full: str
    short: str


class TableError(Exception):
    """Refuses a table, with the reason and its place."""

    def __init__(self, place: Place, message: str) -> None:
        super().__init__(message)
        self.place = place
        self.message = message


class UnreadableError(TableError):
    """Refuses a file that cannot be read as its name says."""


class Note(NamedTuple):
    """Something about a table that the user should know: what is not read or was changed, and why.

    `is_loss`: cells with content are not read.
    """

    place: Place
    message: str
    is_loss: bool = False


class Cell(NamedTuple):
    """A cell: its text, and its place. `fault` says why its content cannot be used, if so."""

    text: str
    place: Place
    fault: str = ""

    @property
    def value(self) -> str:
        """The text without white space around it.

        Raises:
            TableError: if the content cannot be used.
        """
        if self.fault:
            raise TableError(self.place, self.fault)
        return self.text.strip()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing in the cell."""
        return not self.fault and not self.text.strip()


class Row(NamedTuple):
    """A row: its cells by column number, and its place. A missing cell is empty."""

    cells: dict[int, Cell]
    place: Place

    def cell(self, column: int) -> Cell:
        """Return the cell in a column; an empty one at the place of the row if there is none."""
        return self.cells.get(column) or Cell("", self.place)

    @property
    def is_empty(self) -> bool:
        """Whether all its cells are empty."""
        return all(cell.is_empty for cell in self.cells.values())


class Table(NamedTuple):
    """A table: the name of its rubric, its header, and the rows below.

    `parts` are the tables of single criteria, by id, where a document has them apart, `texts` those of its case, by
    field. `span` is the lowest and the highest score of a scale that is to become one from 0 to 10.
    """

    name: str
    header: Row
    rows: tuple[Row, ...]
    notes: tuple[Note, ...] = ()
    parts: "tuple[tuple[str, Table], ...]" = ()
    texts: tuple[tuple[str, Cell], ...] = ()
    span: tuple[int, int] | None = None
