"""Count the tokens that a run used, by model, and what they cost by a table of prices."""

import json
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation, localcontext
from typing import Any, NamedTuple

from rubric_lint.messages import find_near
from rubric_lint.outputs.reply import Reply, Tokens, refuse_duplicates
from rubric_lint.project.opening import SMALL_LIMIT, read_file

_MILLION = Decimal(1_000_000)
_FIELDS = ("input", "cached", "output")

_HIGHEST, _PLACES = 1_000_000_000, 20
"""The highest price and its most decimal places."""

_DIGITS = 100
"""More digits than any sum of such prices has, so that it is exact."""


class PricesError(Exception):
    """A table of prices that cannot be used, and why."""


class Price(NamedTuple):
    """The price of a million tokens of each kind."""

    input: Decimal
    cached: Decimal
    output: Decimal


class Prices(NamedTuple):
    """The prices of models by their names, and the currency; empty if the table does not say it."""

    models: Mapping[str, Price]
    currency: str = ""


class Cost(NamedTuple):
    """What requests cost; `without_price` counts those of each model that has none, `without_tokens` the uncounted."""

    amount: Decimal
    without_price: Mapping[str, int]
    without_tokens: int


CHARACTERS = 4
"""The usual rough number of characters of a token."""


def guess_tokens(texts: Iterable[str]) -> int:
    """Return roughly how many tokens texts have."""
    return sum(map(len, texts)) // CHARACTERS


class Need(NamedTuple):
    """A request to a model: roughly the tokens that it sends, and the most that the reply may have (None: not set)."""

    model: str
    input: int
    output: int | None = None


class Spending:
    """The tokens of requests by the model that was asked and the model that answered.

    `uncounted` is the number of replies without token counts.
    """

    def __init__(self) -> None:
        self._tokens: dict[tuple[str, str | None], Tokens] = {}
        self._requests: Counter[tuple[str, str | None]] = Counter()
        self._most: dict[str, tuple[int, int]] = {}
        self.uncounted = 0

    def add(self, asked: str, reply: Reply) -> None:
        """Count a reply."""
        if reply.tokens.input is None or reply.tokens.output is None:
            self.uncounted += 1
            return
        key = asked, reply.model
        cached = min(reply.tokens.cached or 0, reply.tokens.input)
        self._tokens[key] = self._tokens.get(key, Tokens()).plus(reply.tokens._replace(cached=cached))
        self._requests[key] += 1
        most = self._most.get(asked, (0, 0))
        self._most[asked] = max(most[0], reply.tokens.input), max(most[1], reply.tokens.output)

    def knows(self, model: str) -> bool:
        """Return whether a reply of the model was counted."""
        return model in self._most

    def find_worst(self, needs: Iterable[Need], prices: Prices) -> Decimal:
        """Return what requests may cost: each sends and gets as much as the largest so far, or as it may.

        Of a model without a counted reply and without a limit of tokens, only what is sent is known.
        """
        amount = Decimal(0)
        with localcontext(prec=_DIGITS):
            for need in needs:
                price = prices.models[need.model]
                sent, replied = self._most.get(need.model, (0, 0))
                output = replied if need.output is None else need.output
                amount += (max(sent, need.input) * price.input + output * price.output) / _MILLION
        return amount

    @property
    def requests(self) -> int:
        """The number of replies that were counted."""
        return self._requests.total() + self.uncounted

    def find_cost(self, prices: Prices) -> Cost:
        """Return the exact cost: by the price of the model that answered, else of the model that was asked."""
        amount = Decimal(0)
        without: Counter[str] = Counter()
        with localcontext(prec=_DIGITS):
            for (asked, answered), tokens in self._tokens.items():
                price = prices.models.get(answered or asked) or prices.models.get(asked)
                if price is None:
                    without[answered or asked] += self._requests[asked, answered]
                    continue
                cached = tokens.cached or 0
                fresh = (tokens.input or 0) - cached
                amount += (fresh * price.input + cached * price.cached + (tokens.output or 0) * price.output) / _MILLION
        return Cost(amount, without, self.uncounted)


class Limit(NamedTuple):
    """The most requests of a run, and its highest cost by a table of prices; None for no limit, or no prices."""

    requests: int | None = None
    cost: Decimal | None = None
    prices: Prices | None = None

    @property
    def is_set(self) -> bool:
        """Whether anything is limited."""
        return self.requests is not None or self.cost is not None

    def allows(self, used: Spending, needs: Sequence[Need]) -> bool:
        """Return whether more requests may be sent, by what they may cost; none may if what was spent is unknown."""
        if self.requests is not None and used.requests + len(needs) > self.requests:
            return False
        if self.cost is None or self.prices is None:
            return True
        return (
            not used.uncounted and used.find_cost(self.prices).amount + used.find_worst(needs, self.prices) <= self.cost
        )

    def __str__(self) -> str:
        given = [f"--max-requests {self.requests}"] if self.requests is not None else []
        return " and ".join([*given, *([f"--max-cost {write_amount(self.cost)}"] if self.cost is not None else [])])


NO_LIMIT = Limit()


def word_cost(cost: Cost, currency: str) -> Iterator[str]:
    """Yield the cost, then what it does not include."""
    yield f"cost {write_amount(cost.amount)}{f' {currency}' if currency else ''}"
    for model, count in cost.without_price.items():
        yield f"not counted in the cost: {_count(count)} of `{model}`, which has no price"
    if cost.without_tokens:
        yield f"not counted in the cost: {_count(cost.without_tokens)} without token counts"


def _count(requests: int) -> str:
    return "1 request" if requests == 1 else f"{requests:,} requests"


def write_amount(amount: Decimal) -> str:
    """Write a decimal exactly, without an exponent and without zeros at its end."""
    text = f"{amount:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def read_prices(path: str) -> Prices:
    """Read a table of prices in TOML or JSON: `currency`, and for each of `models` the price of a million tokens.

    Raises:
        PricesError: if the table cannot be used.
        OSError: if the file cannot be read.
    """
    data = read_file(path, SMALL_LIMIT)
    try:
        text = data.decode("utf-8-sig")
        if text.lstrip().startswith("{"):
            table = json.loads(
                text, parse_float=_read_decimal, parse_constant=_refuse_constant, object_pairs_hook=refuse_duplicates
            )
        else:
            table = tomllib.loads(text, parse_float=_read_decimal)
    except UnicodeDecodeError as fault:
        raise PricesError(f"is not UTF-8 at byte {fault.start + 1}") from None
    except (ValueError, RecursionError) as fault:
        raise PricesError(f"is neither TOML nor JSON: {fault}") from None
    if not isinstance(table, dict) or not isinstance(models := table.get("models"), dict) or not models:
        raise PricesError('has no table `models`; expected for example [models."NAME"] with `input` and `output`')
    _refuse_unknown(table, ("models", "currency"), "the table")
    currency = table.get("currency", "")
    if not isinstance(currency, str):
        raise PricesError("`currency` must be a string, such as USD")
    return Prices({name: _read_price(name, fields) for name, fields in models.items()}, currency)


def _read_decimal(text: str) -> Decimal:
    """Return the number; infinity if its exponent has more digits than a decimal can have."""
    try:
        return Decimal(text)
    except InvalidOperation:
        return Decimal("inf")


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a price")


def _read_price(name: str, fields: Any) -> Price:
    if not isinstance(fields, dict):
        raise PricesError(f"the price of `{name}` must be a table with `input` and `output`")
    _refuse_unknown(fields, _FIELDS, f"`{name}`")
    for field in ("input", "output"):
        if field not in fields:
            raise PricesError(f"`{name}` has no price `{field}`, of a million tokens")
    prices = {}
    for field, value in fields.items():
        is_number = isinstance(value, int | Decimal) and not isinstance(value, bool)
        number = Decimal(value if is_number else "nan")
        if not number.is_finite() or number < 0:
            raise PricesError(f"`{field}` of `{name}` must be a number from 0, the price of a million tokens")
        if number > _HIGHEST or int(number.as_tuple().exponent) < -_PLACES:
            raise PricesError(
                f"`{field}` of `{name}` is too large or has too many digits: at most {_HIGHEST}, with {_PLACES} "
                "decimal places"
            )
        prices[field] = number
    return Price(prices["input"], prices.get("cached", prices["input"]), prices["output"])


def _refuse_unknown(found: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    for field in found:
        if field not in known:
            near = find_near(field, known)
            hint = f"; did you mean `{near[0]}`?" if near else ""
            raise PricesError(f"{where} has an unknown field `{field}`{hint}")
