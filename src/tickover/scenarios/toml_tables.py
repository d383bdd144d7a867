"""Tables of a scenario file. A struct declares the keys of each kind of table, and how their values are read."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, TypeVar, get_args

from msgspec import Struct, structs

from tickover.api.suggestions import suggest
from tickover.scenarios.line_numbers import Path, find_line
from tickover.scenarios.scenario_errors import Advice, Mistakes, ScenarioError, error_at, quote


class Source(Struct, frozen=True):
    """The text of a scenario, its name in error messages, and the mistakes in it."""

    name: str
    text: str
    mistakes: Mistakes


class Table:
    """A table as it is in the file."""

    def __init__(
        self, source: Source, values: Mapping[str, Any], item: str = "", path: Path = (), found: Mapping[str, Any] = {}
    ) -> None:
        self.source = source
        self.values = values
        self.item = item
        """Its name in error messages."""
        self.path = path
        self.found = dict(found)
        """The fields that are read. The tables in this table inherit those that they don't have themselves."""
        self.is_valid = True

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def error(self, problem: str, key: str = "") -> ScenarioError:
        """Return an error about a key, or about the whole table."""
        return error_at(self.source.name, problem, find_line(self.source.text, (*self.path, key)), self.item)

    def report(self, problem: str, key: str = "") -> None:
        """Add a mistake, and continue."""
        self.is_valid = False
        self.source.mistakes.add(self.error(problem, key))

    def within(self, key: str, values: Mapping[str, Any]) -> "Table":
        """Return the table in a key of this item."""
        return Table(self.source, values, self.item, (*self.path, key))

    @contextmanager
    def wrap_errors(self) -> Iterator[None]:
        """Turn a ValueError, or a date out of range, into a ScenarioError about this table."""
        try:
            yield
        except ValueError as error:
            raise self.error(str(error)) from None
        except OverflowError:
            raise self.error("a date is outside of the years 1 to 9999") from None


class TableValues(Struct, frozen=True, kw_only=True):
    """The values of a table. Fields with a reader are its keys. It inherits the others from the table that it is in."""

    table: Table

    def check(self) -> None:
        """Report mistakes that concern several keys. Called only if each of them is valid."""


ValuesT = TypeVar("ValuesT", bound=TableValues)


class BaseReader(Struct, frozen=True, kw_only=True):
    """Reads the values of a key."""

    expected: str = ""
    """The end of the sentence "KEY must be …"."""

    @abstractmethod
    def read(self, value: object, table: Table, key: str) -> Any:
        """Return the value of a key. If it is invalid, report it and return None."""


class Reader(BaseReader, frozen=True):
    """Reads single values."""

    parse: Callable[[object], object]
    """Returns None for a value that isn't as expected. Raises ValueError with a more specific message."""

    def read(self, value: object, table: Table, key: str, label: str = "") -> Any:
        problem, parsed = self.expected, None
        try:
            parsed = self.parse(value)
        except Advice as advice:
            return table.report(str(advice), key)
        except ValueError as error:
            problem = str(error)
        if parsed is None:
            table.report(f"{label or key} {problem}, not {quote(value)}", key)
        return parsed


class OneOrMore(BaseReader, frozen=True):
    """Reads one entry or a list."""

    entry: Reader
    minimum: int = 1
    collect: type = tuple

    def read(self, value: object, table: Table, key: str) -> Any:
        if not isinstance(value, list):
            return self.collect([self.entry.read(value, table, key)])
        if len(value) < self.minimum:
            table.report(f"{key} must have at least one entry", key)
        labels = [f"entry {index} of {key}" for index in range(1, len(value) + 1)]
        return self.collect(self.entry.read(one, table, key, label) for one, label in zip(value, labels, strict=True))


class ByType(BaseReader, frozen=True):
    """Reads values of one type with a reader of their own."""

    type: type
    reader: BaseReader
    other: BaseReader

    def read(self, value: object, table: Table, key: str) -> Any:
        return (self.reader if isinstance(value, self.type) else self.other).read(value, table, key)


class InnerTable(BaseReader, frozen=True):
    """Reads a table in a key."""

    kind: type[TableValues]

    def read(self, value: Any, table: Table, key: str) -> TableValues:
        return read_table(self.kind, table.within(key, value))


class Mapped(BaseReader, frozen=True):
    """Reads a table whose keys are the user's."""

    keys: Reader
    values: Reader
    example: str

    def read(self, value: object, table: Table, key: str) -> Any:
        if not isinstance(value, dict):
            return table.report(f"{key} must be a table such as {self.example}, not {quote(value)}", key)
        inner = table.within(key, value)
        read = self.keys.read, self.values.read
        return {read[0](name, inner, name, f"a key of {key}"): read[1](one, inner, name) for name, one in value.items()}


class Limit(Struct, frozen=True):
    """The maximum number of items of one kind."""

    items: str
    maximum: int
    owner: str = "scenario"

    def excess(self, count: int, where: str = "") -> str:
        return f"{count:,} {self.items}{where} exceed the limit of {self.maximum:,} per {self.owner}"


class Tables(BaseReader, frozen=True):
    """Reads a list of tables."""

    kind: type[TableValues]
    limit: Limit

    def read(self, value: object, table: Table, key: str) -> Any:
        noun = self.limit.items.removesuffix("s")
        if not isinstance(value, list):
            return table.report(f"{key} must be a list with a table for each {noun}, not {quote(value)}", key)
        if len(value) > self.limit.maximum:
            return table.report(f"{self.limit.excess(len(value))}; remove some", key)
        found = []
        for index, one in enumerate(value):
            name = f" {quote(one['name'])}" if isinstance(one, dict) and isinstance(one.get("name"), str) else ""
            item = ", ".join(filter(None, [table.item, f"{noun} {index + 1}{name}"]))
            entry = Table(table.source, one, item, (*table.path, key, index), table.found)
            if isinstance(one, dict):
                found.append(read_table(self.kind, entry))
            else:
                entry.report(f"must be a table with the keys {', '.join(_keys_of(self.kind))}, not {quote(one)}")
        return tuple(found)


@lru_cache
def _keys_of(kind: type[TableValues]) -> dict[str, tuple[structs.FieldInfo, BaseReader]]:
    """Return the field and the reader of each key of a table. Required keys are first."""
    keys = {}
    for field in sorted(structs.fields(kind), key=lambda field: not field.required):
        for reader in get_args(field.type)[1:]:
            if isinstance(reader, BaseReader):
                keys[field.encode_name] = field, reader
    return keys


def read_table(kind: type[ValuesT], table: Table) -> ValuesT:
    """Return the values of a table, and report its mistakes."""
    keys = _keys_of(kind)
    unknown = [key for key in table.values if key not in keys]
    for key in unknown:
        hint = suggest(key.lower(), keys, '"{}"', fallback=f"available keys: {', '.join(keys)}")
        table.report(f"unknown key {quote(key)}{hint}", key)
    for key, (field, reader) in keys.items():
        value = None
        if key in table:
            value = reader.read(table.values[key], table, key)
        elif field.required and not unknown:
            # Otherwise it may be misspelt.
            table.report(f"{key} is missing; it {reader.expected}")
        if field.required or value is not None:
            table.found[field.name] = value
    fields = {name: table.found[name] for name in kind.__struct_fields__ if name in table.found}
    values = kind(table=table, **fields)
    if table.is_valid:
        values.check()
    return values
