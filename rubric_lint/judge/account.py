"""Keep the account of a run: what its requests used, what those under way may use, and what the limits leave.

Every request of every command is sent through an account. Room for all that a request can cost is reserved before it
is sent, and what was billed takes the place of that when the reply has come, so that no limit is ever exceeded.
"""

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple, Self

from rubric_lint.judge.call import Call
from rubric_lint.judge.pace import Pace
from rubric_lint.judge.spending import Prices, Spending, write_amount
from rubric_lint.judge.waiting import Waiting
from rubric_lint.model.messages import counted
from rubric_lint.scoring.records.reply import CUT_OFF, Reply, Tokens

MOST_OUTPUT = 8192
"""The most output tokens of a reply under a limit of the cost if nothing else limits it; most models allow as many."""

_LEAST_OUTPUT = 20
"""The fewest output tokens that a first reply needs; a shorter one would be cut off, and paid for in vain."""


class NoReplyError(Exception):
    """A request that got no reply; `is_refused` if the same one would be refused again."""

    is_refused = False


class LimitError(NoReplyError):
    """A request that was not sent because of a limit; `reason` is why the one before it failed, if there was one.

    `is_invalid`: that one got a reply which cannot be used.
    """

    reason = ""
    is_invalid = False

    def follow(self, replies: int, fault: str) -> None:
        """Note that the request was to correct the last of some replies, which has a fault; there may be none."""
        if replies:
            lost = f"; the correction failed: {self.reason}" if self.reason else ""
            self.reason = f"invalid after {counted(replies, 'attempt')}: {fault}{lost}"
            self.is_invalid = True


class RunLimit(NamedTuple):
    """The most requests of a run, and its highest cost by a table of prices; None for no limit, or no prices.

    `rpm` and `tpm` are the most requests and tokens per minute and endpoint.
    """

    requests: int | None = None
    cost: Decimal | None = None
    prices: Prices | None = None
    rpm: float | None = None
    tpm: float | None = None

    @property
    def is_set(self) -> bool:
        """Whether the requests of the whole run are limited."""
        return self.requests is not None or self.cost is not None

    @property
    def options(self) -> dict[str, str]:
        """The options that set the limits, with their values."""
        given = {}
        if self.requests is not None:
            given["--max-requests"] = str(self.requests)
        if self.cost is not None:
            given["--max-cost"] = write_amount(self.cost)
        return given

    def __str__(self) -> str:
        return " and ".join(f"{option} {value}" for option, value in self.options.items())


NO_LIMIT = RunLimit()


class LimitedRun(NamedTuple):
    """How a limit ended a run: what to say of it, how many answers are left, and whether the same command goes on."""

    words: str
    left: int
    goes_on: bool


class Need(NamedTuple):
    """What a request may use: as many input tokens as its body has bytes, and `output` tokens (None: not set)."""

    model: str
    size: int
    output: int | None = None


def find_need(call: Call, body: Mapping[str, Any]) -> Need:
    """Return the need of a request with this body. No tokenizer makes more tokens of a text than it has bytes."""
    size = len(json.dumps(body, ensure_ascii=False).encode("utf-8", "replace"))
    return Need(call.model, size, call.most_output)


class Account:
    """What the requests of a run use, within its `limit`; several event loops and threads may share it.

    All requests to one endpoint keep one pace, and one pause.

    `spending` is what was used. `stop` says why the latest request was not sent, empty if each was; `too_low` what to
    do if another run with that limit would not send it either. `fault` says why no request is sent any more: what was
    billed is not what was asked for, so that no limit could be kept. `ending` is how a limit ended the
    latest run, None if it left no answer.

    A pickle has the limit and nothing that was used: each process has an account of its own.
    """

    def __init__(self, limit: RunLimit = NO_LIMIT) -> None:
        self.limit = limit
        self.spending = Spending()
        self.stop = self.too_low = self.fault = ""
        self.ending: LimitedRun | None = None
        self._meters = [self.spending]
        self._lock = threading.RLock()
        self._open: list[Reservation] = []
        self._promised, self._amount = 0, Fraction(0)
        self._asked: set[str] = set()
        self._waiting = Waiting()
        self._paces: dict[str, Pace] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return Account, (self.limit,)

    def find_pace(self, endpoint: str) -> Pace:
        """Return the pace of all requests to the endpoint with this address."""
        with self._lock:
            return self._paces.setdefault(endpoint, Pace(self.limit.rpm, self.limit.tpm))

    def meter(self) -> Spending:
        """Return a new count of the requests from now on."""
        spending = Spending()
        self._meters.append(spending)
        return spending

    def add(self, model: str, reply: Reply) -> None:
        """Count the tokens of a reply to a request that was not sent by this run."""
        for spending in self._meters:
            spending.add(model, reply.tokens, reply.model)

    @property
    def excess(self) -> Decimal:
        """What was billed beyond the limit of the cost."""
        if self.limit.cost is None or self.limit.prices is None:
            return Decimal(0)
        return max(self.spending.find_cost(self.limit.prices).amount - self.limit.cost, Decimal(0))

    def find_most(self, need: Need, output: int = MOST_OUTPUT) -> Decimal | None:
        """Return the most that a request can cost, with `output` tokens if it sets no limit; None if unknown."""
        price = self.limit.prices.models.get(need.model) if self.limit.prices else None
        most_output = need.output
        if most_output is None and self.limit.cost is not None:
            most_output = output
        if price is None or most_output is None:
            return None
        # Nobody knows before how much comes from the cache, and a table may have a higher price for that.
        dearest = price._replace(input=max(price.input, price.cached))
        return dearest.charge(Tokens(need.size, most_output))

    async def reserve(self, needs: Sequence[Need]) -> "Reservation":
        """Reserve what requests may use, until it is closed; wait while others may give back what is missing.

        Under a limit of the cost, the first requests to a model go alone: it may bill more than it was asked for.

        Raises:
            LimitError: if the limits do not allow it.
        """
        while True:
            with self._lock:
                self._require_no_fault()
                most_output = self._find_output(needs)
                is_first = self.limit.cost is not None and any(need.model not in self._asked for need in needs)
                if most_output is not None and not (is_first and self._open):
                    amount = sum((self._find_amount(need, most_output) for need in needs), Fraction(0))
                    reservation = Reservation(self, len(needs), amount, most_output)
                    self._open.append(reservation)
                    self._promise(len(needs), amount)
                    return reservation
                if not self._open:
                    self.too_low = self._find_too_low(needs)
                    raise self._refuse()
                given_back = self._waiting.join()
            await given_back

    def _find_amount(self, need: Need, output: int) -> Fraction:
        """Return the most that a request can cost, 0 without a limit of the cost."""
        if self.limit.cost is None:
            return Fraction(0)
        most = self.find_most(need, output)
        if most is None:
            raise ValueError(f"no price for `{need.model}`, so a limit of the cost cannot be kept")
        return Fraction(most)

    def _find_output(self, needs: Sequence[Need], own: "Reservation | None" = None) -> int | None:
        """Return how many output tokens replies may have for which nothing else says it; None if there is no room.

        Where the limit of the cost leaves less than `MOST_OUTPUT` and nobody else can give anything back, they are as
        many as it leaves, but no fewer than the longest reply so far had. `own` is used up before the rest.
        """
        own_requests, own_amount, ceiling = 0, Fraction(0), MOST_OUTPUT
        if own:
            own_requests, own_amount, ceiling = own.requests, own.amount, own.most_output
        requests = max(len(needs) - own_requests, 0)
        least = sum((self._find_amount(need, 0) for need in needs), Fraction(0))
        most = sum((self._find_amount(need, ceiling) for need in needs), Fraction(0))
        if self._has_room(requests, most - own_amount):
            return ceiling
        others_may_give_back = any(reservation is not own for reservation in self._open)
        if most == least or others_may_give_back or not self._has_room(requests, least - own_amount):
            return None
        # The cost grows evenly from none of the output tokens to all of the ceiling.
        most_output = int((self._find_rest() + own_amount - least) * ceiling / (most - least))
        longest = max(self.spending.longest[need.model] for need in needs)
        return most_output if most_output >= (longest or _LEAST_OUTPUT) else None

    def _promise(self, requests: int, amount: Fraction) -> None:
        """Reserve room for more requests, which cost at most `amount`; give it back if both are negative."""
        self._promised += requests
        self._amount += amount

    def _has_room(self, requests: int, amount: Fraction) -> bool:
        """Return whether the limits leave room for more requests, which cost at most `amount`."""
        used = self.spending.requests + self._promised
        if self.limit.requests is not None and used + requests > self.limit.requests:
            return False
        return self.limit.cost is None or amount <= self._find_rest()

    def _find_rest(self) -> Fraction:
        """Return the rest of the limit of the cost once all that is reserved and all that is unknown is paid."""
        if self.limit.cost is None or self.limit.prices is None:
            return Fraction(0)
        cost = self.spending.find_cost(self.limit.prices)
        return Fraction(self.limit.cost) - Fraction(cost.amount) - Fraction(cost.more or 0) - self._amount

    async def begin(self, reservation: "Reservation", need: Need) -> "Charge":
        """Return the charge of one request; what its reservation lacks, as for a retry, comes from the rest.

        Raises:
            LimitError: if the limits do not allow it.
        """
        while True:
            with self._lock:
                reservation.is_waiting = False
                self._require_no_fault()
                most_output = self._find_output([need], reservation)
                if most_output is not None:
                    amount = self._find_amount(need, most_output)
                    own_request, own_amount = min(reservation.requests, 1), min(reservation.amount, amount)
                    reservation.requests -= own_request
                    reservation.amount -= own_amount
                    self._promise(1 - own_request, amount - own_amount)
                    is_limited = need.output is None and self.limit.cost is not None
                    output_limit = most_output if is_limited else None
                    return Charge(self, need, amount, output_limit)
                # If all wait for what others have, none would get it.
                if all(other.is_waiting for other in self._open if other is not reservation):
                    raise self._refuse()
                reservation.is_waiting = True
                given_back = self._waiting.join()
            try:
                await given_back
            finally:
                reservation.is_waiting = False

    def _require_no_fault(self) -> None:
        """Refuse any request after one that was billed for more than was asked for, as no limit can be kept then."""
        if self.fault:
            self.stop = self.fault
            raise LimitError(self.fault)

    def _find_too_low(self, needs: Sequence[Need]) -> str:
        """Return the advice to raise a limit that is too low for these requests alone; empty if none is."""
        if self.limit.requests is not None and len(needs) > self.limit.requests:
            return f"The next answer alone needs {counted(len(needs), 'request')}: raise --max-requests"
        amount = sum((self._find_amount(need, _LEAST_OUTPUT) for need in needs), Fraction(0))
        if self.limit.cost is not None and amount > self.limit.cost:
            cost = write_amount(Decimal(amount.numerator) / Decimal(amount.denominator))
            lower = ", or lower --max-tokens" if any(need.output for need in needs) else ""
            return f"The next answer alone may cost {cost}: raise --max-cost{lower}"
        return ""

    def refuse_longer(self, fault: str) -> LimitError:
        """Return the error of a reply that was cut off because the limit of the cost left too little for it.

        A correction would have less.
        """
        error = self._refuse()
        error.is_invalid, error.reason = True, fault
        return error

    def _refuse(self) -> LimitError:
        self.stop = str(self.limit)
        return LimitError(self.stop)

    def settle(self, charge: "Charge") -> None:
        """Count what a request was billed in the place of what was reserved for it."""
        with self._lock:
            self._promise(-1, -charge.amount)
            if charge.is_sent:
                self._count(charge)
            self._waiting.wake()

    def _count(self, charge: "Charge") -> None:
        need, tokens = charge.need, charge.tokens
        self._asked.add(need.model)
        is_known = tokens.input is not None and tokens.output is not None
        most = self.find_most(need, charge.most_output or MOST_OUTPUT)
        for spending in self._meters:
            spending.requests += 1
            if not charge.is_usable:
                spending.unusable += 1
            if is_known or not charge.is_refused:
                spending.add(need.model, tokens, charge.answered, most)
        if not is_known:
            return
        allowed = need.output if charge.most_output is None else charge.most_output
        written = tokens.output or 0
        if self.limit.cost is None:  # some endpoints limit the reply without the reasoning before it
            written -= tokens.reasoning or 0
        if allowed is not None and written > allowed:
            self.fault = (
                f"a reply of `{need.model}` has {written:,} output tokens, and at most {allowed:,} were asked for"
            )
            return
        billed = self._find_billed(charge)
        if billed > charge.amount:
            cost, most_cost = write_amount(billed), write_amount(most or Decimal(0))
            self.fault = f"a reply of `{need.model}` cost {cost}, and at most {most_cost} was to be expected"

    def _find_billed(self, charge: "Charge") -> Decimal:
        """Return the cost of a reply, 0 without a limit of the cost."""
        if self.limit.cost is None or self.limit.prices is None:
            return Decimal(0)
        one = Spending()
        one.add(charge.need.model, charge.tokens, charge.answered)
        return one.find_cost(self.limit.prices).amount

    def close(self, reservation: "Reservation") -> None:
        """Give back what a reservation has left."""
        with self._lock:
            self._open.remove(reservation)
            self._promise(-reservation.requests, -reservation.amount)
            self._waiting.wake()


@dataclass(eq=False, slots=True)
class Reservation:
    """What is reserved for requests that are not sent yet, such as those for one answer; a context manager."""

    account: Account
    requests: int
    amount: Fraction
    most_output: int
    is_waiting: bool = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.account.close(self)


@dataclass(eq=False, slots=True)
class Charge:
    """One request: what is reserved for it, and what came of it; at the end of the context it is settled.

    `most_output` is the limit of the output tokens that the request has to send; None if its body has one or needs
    none. `is_refused`: the endpoint did nothing for it, so that it costs nothing unless tokens are billed all the same.
    `is_too_short`: that limit cut the reply off, and was all that the limit of the cost left.
    """

    account: Account
    need: Need
    amount: Fraction
    most_output: int | None = None
    is_sent: bool = False
    is_usable: bool = False
    is_refused: bool = False
    tokens: Tokens = field(default_factory=Tokens)
    answered: str | None = None
    is_too_short: bool = False

    def explain_cut(self, fault: str | None) -> str | None:
        """Return the fault of a reply, with the limit of tokens if the limit of the cost is what cut it off."""
        if self.most_output is None or not (fault or "").startswith(CUT_OFF):
            return fault
        self.is_too_short = self.most_output < MOST_OUTPUT
        if self.is_too_short:
            return f"{fault}: the limit of the cost left it {self.most_output:,} tokens"
        return f"{fault}: {MOST_OUTPUT:,} tokens, as a limit of the cost needs one and no other is given"

    def note(self, tokens: Tokens, answered: str | None) -> None:
        """Note what the endpoint says that it billed. A prompt has a text, so that a count of 0 for it is none."""
        self.tokens = tokens._replace(input=tokens.input or None)
        self.answered = answered

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.account.settle(self)
