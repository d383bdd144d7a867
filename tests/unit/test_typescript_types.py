"""The generated part of the TypeScript client."""

import json

from scripts.generate_typescript import TARGET, generate
from tests.support.repository import ROOT, text_files
from tickover import __version__


def test_types_are_up_to_date() -> None:
    assert TARGET.read_text("utf-8") == generate(), "run `make types`"


def test_versions_of_both_clients_are_equal() -> None:
    package = json.loads((ROOT / "clients" / "typescript" / "package.json").read_text("utf-8"))
    assert package["version"] == __version__


def test_lock_files_name_no_registry() -> None:
    locks = {name: text for name, text in text_files().items() if name.endswith("package-lock.json")}
    assert locks
    assert [name for name, text in locks.items() if '"resolved": "http' in text] == []
