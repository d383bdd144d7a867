"""Tests with many cases of one kind."""

import inspect
import reprlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar, cast

_Test = TypeVar("_Test", bound=Callable[..., Any])


def each_case(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[[_Test], _Test]:
    """Run all cases in one test, which takes less time than a test for each. A failure names its case.

    It takes names and cases as `pytest.mark.parametrize` does. All cases share the test's fixtures.
    """
    wanted = (names,) if isinstance(names, str) else names
    listed = [_read(case, isinstance(names, str)) for case in cases]
    assert listed, "there are no cases"
    assert all(len(values) == len(wanted) for _, values in listed), f"each case needs {wanted}"

    def decorate(test: _Test) -> _Test:
        if inspect.iscoroutinefunction(test):

            @wraps(test)
            async def run_async(**fixtures: Any) -> None:
                for label, values in listed:
                    with _labelled(label):
                        await test(**fixtures, **dict(zip(wanted, values, strict=True)))

            return _without(wanted, test, run_async)

        @wraps(test)
        def run(**fixtures: Any) -> None:
            for label, values in listed:
                with _labelled(label):
                    test(**fixtures, **dict(zip(wanted, values, strict=True)))

        return _without(wanted, test, run)

    return decorate


def _read(case: Any, is_single: bool) -> tuple[str, tuple[Any, ...]]:
    """Return the label and the values of a case, which may be a `pytest.param`."""
    if hasattr(case, "marks"):
        assert not case.marks, "a case can't have marks"
        return case.id or reprlib.repr(case.values), case.values
    values = (case,) if is_single else tuple(case)
    return reprlib.repr(values), values


def _without(names: tuple[str, ...], test: _Test, run: Callable[..., Any]) -> _Test:
    """Hide parameters of the test, so that pytest doesn't look for fixtures of these names."""
    signature = inspect.signature(test)
    assert set(names) <= set(signature.parameters), f"the test needs the parameters {names}"
    kept = [parameter for name, parameter in signature.parameters.items() if name not in names]
    run.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
    return cast("_Test", run)


@contextmanager
def _labelled(label: str) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        error.add_note(f"Case: {label}")
        raise
