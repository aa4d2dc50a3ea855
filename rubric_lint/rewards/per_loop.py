"""Keep a value for each event loop."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

Value = TypeVar("Value")


class PerLoop(Generic[Value]):
    """One value for each event loop, as long as the loop exists. Threads may share it, and its pickle has no values."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._values: WeakKeyDictionary[asyncio.AbstractEventLoop, Value] = WeakKeyDictionary()

    def __reduce__(self) -> tuple[Any, ...]:
        return PerLoop, ()

    def find(self, make: Callable[[], Value]) -> Value:
        """Return the value of the running loop; `make` it if there is none yet.

        Raises:
            RuntimeError: if no loop runs in this thread.
        """
        loop = asyncio.get_running_loop()
        with self._lock:
            if loop not in self._values:
                self._values[loop] = make()
            return self._values[loop]
