"""Wait until something changes, in any number of event loops and threads."""

import asyncio
from contextlib import suppress


class Waiting:
    """Those who wait for a change that a lock guards; call both methods with that lock.

    Every change wakes all of them, and each looks again under the lock: so if one is canceled, no other misses its
    turn.
    """

    def __init__(self) -> None:
        self._futures: list[asyncio.Future[None]] = []

    def join(self) -> asyncio.Future[None]:
        """Return a future that is done at the next change; await it without the lock."""
        future = asyncio.get_running_loop().create_future()
        self._futures.append(future)
        return future

    def wake(self) -> None:
        """Wake all who wait."""
        futures, self._futures = self._futures, []
        for future in futures:
            with suppress(RuntimeError):  # the event loop of another thread may be closed
                future.get_loop().call_soon_threadsafe(_finish, future)


def _finish(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
