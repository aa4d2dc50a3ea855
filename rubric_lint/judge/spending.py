"""Count the tokens that a run used, by model, and what they cost by a table of prices."""

import json
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal, InvalidOperation, localcontext
from typing import Any, NamedTuple

from rubric_lint.lint.project.opening import SMALL_LIMIT, read_file
from rubric_lint.model.messages import counted, find_near
from rubric_lint.scoring.records.reply import Tokens, refuse_duplicates

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

    def charge(self, tokens: Tokens) -> Decimal:
        """Return the exact cost of tokens."""
        cached = min(tokens.cached or 0, tokens.input or 0)
        fresh = (tokens.input or 0) - cached
        with localcontext(prec=_DIGITS):
            cost = fresh * self.input + cached * self.cached + (tokens.output or 0) * self.output
            return cost / _MILLION


class Prices(NamedTuple):
    """The prices of models by their names, and the currency; empty if the table does not say it."""

    models: Mapping[str, Price]
    currency: str = ""


class Cost(NamedTuple):
    """What requests cost; `without_price` counts those of each model that has none, `without_tokens` the uncounted.

    The uncounted cost at most `more`, None if nobody knows.
    """

    amount: Decimal
    without_price: Mapping[str, int]
    without_tokens: int
    more: Decimal | None = None

    def find_most(self) -> Decimal | None:
        """Return the most that all requests can cost; None if nobody knows."""
        if self.more is None or self.without_price:
            return None
        with localcontext(prec=_DIGITS):
            return self.amount + self.more


CHARACTERS = 4
"""The usual rough number of characters of a token."""


def guess_tokens(texts: Iterable[str]) -> int:
    """Return roughly how many tokens texts have."""
    return sum(map(len, texts)) // CHARACTERS


class Spending:
    """What requests used: their number, and their tokens by the model that was asked and the model that answered.

    `requests` are those that were sent, `unusable` those of them without a reply that has a text to read, `uncounted`
    those that may be billed and whose token counts are missing. The uncounted cost at most `more`, None if unknown.
    `longest` has the output tokens of the longest counted reply of each model that was asked.
    """

    def __init__(self) -> None:
        self.requests = self.unusable = self.uncounted = 0
        self.tokens = Tokens()
        self.more: Decimal | None = Decimal(0)
        self._tokens: dict[tuple[str, str | None], Tokens] = {}
        self._counted: Counter[tuple[str, str | None]] = Counter()
        self.longest: Counter[str] = Counter()

    def add(self, asked: str, tokens: Tokens, answered: str | None, most: Decimal | None = None) -> None:
        """Count the tokens of a request; if a count is missing, it costs at most `most`."""
        self.tokens = self.tokens.plus(tokens)
        if tokens.input is None or tokens.output is None:
            self.uncounted += 1
            with localcontext(prec=_DIGITS):
                self.more = None if most is None or self.more is None else self.more + most
            return
        key = asked, answered
        self._tokens[key] = self._tokens.get(key, Tokens()).plus(tokens)
        self._counted[key] += 1
        self.longest[asked] = max(self.longest[asked], tokens.output)

    def find_cost(self, prices: Prices) -> Cost:
        """Return the exact cost: by the price of the model that answered, else of the model that was asked."""
        amount = Decimal(0)
        without: Counter[str] = Counter()
        with localcontext(prec=_DIGITS):
            for (asked, answered), tokens in self._tokens.items():
                # Endpoints answer by a name with a date for one without, which few tables have.
                price = prices.models.get(answered or asked) or prices.models.get(asked)
                if price is None:
                    without[answered or asked] += self._counted[asked, answered]
                    continue
                amount += price.charge(tokens)
        return Cost(amount, without, self.uncounted, self.more)


def format_cost(cost: Cost, currency: str) -> Iterator[str]:
    """Yield the cost, then what it does not include."""
    yield f"cost {write_amount(cost.amount)} {currency}".rstrip()
    for model, count in cost.without_price.items():
        yield f"not counted in the cost: {_count(count)} of `{model}`, which has no price"
    uncounted = f"{_count(cost.without_tokens)} without token counts"
    if cost.without_tokens and cost.more is None:
        yield f"not counted in the cost: {uncounted}"
    elif cost.without_tokens:
        yield f"at most {write_amount(cost.more or Decimal(0))} more for {uncounted}"


def _count(requests: int) -> str:
    return counted(requests, "request")


def format_requests(spending: Spending) -> str:
    """Say how many requests were sent, and how many of them brought nothing."""
    unusable = f", {spending.unusable:,} without a usable reply" if spending.unusable else ""
    return f"{_count(spending.requests)}{unusable}"


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
        # No table in TOML starts so.
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
    models = table.get("models") if isinstance(table, dict) else None
    if not isinstance(models, dict) or not models:
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
        number = Decimal(value) if is_number else Decimal("nan")
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
