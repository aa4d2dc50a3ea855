"""Hold the models that judge, each at its endpoint."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from types import TracebackType
from typing import Any, Protocol, Self

from rubric_lint.judge.asking import Asker
from rubric_lint.judge.pace import Pace
from rubric_lint.scoring.scorer import name_models


class Member(Asker, AbstractAsyncContextManager[Any], Protocol):
    """A model of a panel, opened and closed with it."""

    pace: Pace


class Panel:
    """One model or several, which all judge every answer; use it as an asynchronous context manager.

    `names` has a name for each of `endpoints`, which no other has. `is_live` is False for the results of a batch.
    """

    def __init__(self, endpoints: Sequence[Member], *, is_live: bool = True) -> None:
        self.endpoints = tuple(endpoints)
        self.is_live = is_live
        self.names = name_models((endpoint.call.model, endpoint.name) for endpoint in endpoints)
        self._paces = {id(endpoint.pace): endpoint.pace for endpoint in endpoints}.values()
        self._opened = AsyncExitStack()

    async def __aenter__(self) -> Self:
        for endpoint in self.endpoints:
            await self._opened.enter_async_context(endpoint)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._opened.aclose()

    @property
    def is_single(self) -> bool:
        """Whether one model judges."""
        return len(self.endpoints) == 1

    @property
    def left(self) -> float:
        """The remaining seconds of the longest pause."""
        return max(pace.left for pace in self._paces)

    @property
    def paused(self) -> float:
        """The total seconds of all pauses so far."""
        return sum(pace.paused for pace in self._paces)

    @property
    def under_way(self) -> int:
        """How many requests have been sent and not yet answered."""
        return sum(pace.room.inside for pace in self._paces)

    def send_no_more(self) -> None:
        """Send no further request; those under way still get their replies."""
        for pace in self._paces:
            pace.close()

    def watch_pauses(self, watch: Callable[[float, str], object]) -> None:
        """Call `watch` at the first pause of each endpoint with its seconds and the reason."""
        for pace in self._paces:
            pace.watch = watch
