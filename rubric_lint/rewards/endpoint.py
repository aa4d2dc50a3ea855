"""A judge at a chat-completions endpoint."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rubric_lint.judge.call import Call
from rubric_lint.judge.prompt import Message
from rubric_lint.outputs.decoding import OutputError
from rubric_lint.project.api_key import KEY, ApiKeyError, read_key
from rubric_lint.rewards.options import RewardError
from rubric_lint.rewards.per_loop import PerLoop

if TYPE_CHECKING:
    from rubric_lint.judge.endpoint import Endpoint
    from rubric_lint.judge.pace import Pace


class EndpointJudge:
    """A judge that asks an endpoint; it can be pickled, and its pickle has no key.

    Each event loop has limits and a client of its own, which is closed when no request is in flight: nobody else could
    close it before its loop ends.
    """

    def __init__(self, call: Call, key_variable: str | None, *, rpm: float | None, tpm: float | None) -> None:
        self.call = call
        self._limits = (rpm, tpm)
        self._key_variable = key_variable
        self._read_key()  # a missing key is an error at once, not at the first completion
        self._lines: PerLoop[_Line] = PerLoop()

    def __repr__(self) -> str:
        return f"<EndpointJudge {self.call.model!r} at {self.call.endpoint}>"

    async def __call__(self, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any]) -> str:
        """Return the text of the reply.

        Raises:
            OutputError: if the reply has no text that can be used, such as a refusal.
            RewardError: if no request would get a reply, for example because the key is wrong.
            UnansweredError: if this one got none, after all retries.
        """
        from rubric_lint.judge.endpoint import UnansweredError  # noqa: PLC0415  (loads what requests need)

        said = [Message(each["role"], each["content"]) for each in messages]  # type: ignore[arg-type]
        line = self._lines.find(self._make_line)
        try:
            reply = (await line.enter().complete(said, schema)).reply
        except UnansweredError as fault:
            if fault.lasting:
                raise RewardError(f"`{self.call.model}` at {self.call.endpoint}: {fault}") from None
            raise
        finally:
            await line.leave()
        if reply.fault:
            raise OutputError(reply.fault)
        return reply.text

    def _make_line(self) -> "_Line":
        from rubric_lint.judge.pace import Pace  # noqa: PLC0415

        rpm, tpm = self._limits
        return _Line(self.call, self._read_key(), Pace(rpm, tpm=tpm))

    def _read_key(self) -> str:
        """Return the key from its variable, or a placeholder for an endpoint of one's own.

        Raises:
            RewardError: if the variable is not set, or its key cannot be sent.
        """
        from rubric_lint.judge.endpoint import NO_KEY  # noqa: PLC0415

        variable = self._key_variable
        if variable is None and self.call.base_url:
            return NO_KEY
        advice = "pass `api_key_env`, or pass `base_url`"
        try:
            return read_key(variable or KEY, is_needed=True, option="`api_key_env`", advice=advice)
        except ApiKeyError as fault:
            raise RewardError(str(fault)) from None


class _Line:
    """The connections of one loop: a client as long as requests are in flight, and limits for all of them."""

    def __init__(self, call: Call, key: str, pace: "Pace") -> None:
        self._call = call
        self._key = key
        self._pace = pace
        self._endpoint: Endpoint | None = None
        self._users = 0

    def enter(self) -> "Endpoint":
        """Return the client; each `enter` needs a `leave`."""
        from rubric_lint.judge.endpoint import Endpoint  # noqa: PLC0415

        self._users += 1
        if self._endpoint is None:
            self._endpoint = Endpoint(self._call, self._key, self._pace)
        return self._endpoint

    async def leave(self) -> None:
        """Close the client after the last request."""
        self._users -= 1
        if not self._users and self._endpoint:
            endpoint, self._endpoint = self._endpoint, None
            await endpoint.__aexit__(None, None, None)
