"""Reads the patches. The lines before each diff name the bug, its area, and the tests that must catch it."""

from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[2]
FOLDER: Final = Path(__file__).parent


class Mutant(NamedTuple):
    """A planted bug."""

    patch: Path
    bug: str
    area: str
    tests: tuple[str, ...]
    """Files, or tests in them, as pytest accepts them."""

    @property
    def name(self) -> str:
        return self.patch.stem


def load_mutants(name_part: str = "") -> list[Mutant]:
    """Return the mutants whose names contain `name_part`, in order."""
    return [read_mutant(patch) for patch in sorted(FOLDER.glob("*.patch")) if name_part in patch.stem]


def read_mutant(patch: Path) -> Mutant:
    header = patch.read_text("utf-8").partition("\n--- ")[0]
    fields = [line.partition(": ") for line in header.splitlines() if line]
    values = {name: [value for key, _, value in fields if key == name] for name in ("Bug", "Area", "Tests")}
    if len(values["Bug"]) != 1 or len(values["Area"]) != 1 or not values["Tests"]:
        raise ValueError(f"{patch.name} must start with one line 'Bug: …', one 'Area: …', and lines 'Tests: …'.")
    return Mutant(patch, values["Bug"][0], values["Area"][0], tuple(values["Tests"]))
