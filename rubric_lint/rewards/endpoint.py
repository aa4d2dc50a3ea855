"""A judge at a chat-completions endpoint."""

import asyncio
import os
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from rubric_lint.rewards.options import RewardError
from rubric_lint.scoring.extract import OutputError
from rubric_lint.scoring.judge.call import Call
from rubric_lint.scoring.judge.prompt import Message

if TYPE_CHECKING:
    from rubric_lint.scoring.judge.endpoint import Endpoint

KEY = "OPENAI_API_KEY"


class EndpointJudge:
    """A judge that asks an endpoint; it can be pickled, and its pickle has no key.

    Each event loop has a client of its own, with its own limits.
    """

    def __init__(self, call: Call, key_variable: str | None, *, rpm: float | None, tpm: float | None) -> None:
        self.call = call
        self._limits = (rpm, tpm)
        self._key_variable = key_variable
        self._read_key()  # a missing key is an error at once, not at the first completion
        self._start()

    def _start(self) -> None:
        self._lock = threading.Lock()
        self._endpoints: WeakKeyDictionary[asyncio.AbstractEventLoop, Endpoint] = WeakKeyDictionary()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in {"_lock", "_endpoints"}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._start()

    def __repr__(self) -> str:
        return f"<EndpointJudge {self.call.model!r} at {self.call.endpoint}>"

    async def __call__(self, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any]) -> str:
        """Return the text of the reply.

        Raises:
            OutputError: if the reply has no text that can be used, such as a refusal.
            RewardError: if no request would get a reply, for example because the key is wrong.
            UnansweredError: if this one got none, after all retries.
        """
        from rubric_lint.scoring.judge.endpoint import UnansweredError  # noqa: PLC0415  (loads what requests need)

        said = [Message(each["role"], each["content"]) for each in messages]  # type: ignore[arg-type]
        try:
            reply = (await self._open().complete(said, schema)).reply
        except UnansweredError as fault:
            if fault.lasting:
                raise RewardError(f"`{self.call.model}` at {self.call.endpoint}: {fault}") from None
            raise
        if reply.fault:
            raise OutputError(reply.fault)
        return reply.text

    def _open(self) -> "Endpoint":
        """Return the client of the running loop."""
        from rubric_lint.scoring.judge.endpoint import Endpoint  # noqa: PLC0415
        from rubric_lint.scoring.judge.pace import Pace  # noqa: PLC0415

        loop = asyncio.get_running_loop()
        with self._lock:
            if loop not in self._endpoints:
                rpm, tpm = self._limits
                self._endpoints[loop] = Endpoint(self.call, self._read_key(), Pace(rpm, tpm=tpm))
            return self._endpoints[loop]

    def _read_key(self) -> str:
        """Return the key from its variable, or a placeholder for an endpoint of one's own.

        Raises:
            RewardError: if the variable is not set.
        """
        from rubric_lint.scoring.judge.endpoint import NO_KEY  # noqa: PLC0415

        variable = self._key_variable
        if variable is None and self.call.base_url:
            return NO_KEY
        key = os.environ.get(variable or KEY, "").strip()
        if not key:
            raise RewardError(
                f"{variable or KEY} is not set. Set it, pass `api_key_env`, or pass `base_url` for an endpoint without "
                "a key"
            )
        return key
