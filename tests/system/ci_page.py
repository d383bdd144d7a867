"""Reads the YAML files in docs/ci.md, and runs the steps of their jobs."""

import os
import re
import subprocess
from pathlib import Path
from typing import Any, Final

from ruamel.yaml import YAML

from tests.support.repository import ROOT

PAGE: Final = (ROOT / "docs" / "ci.md").read_text("utf-8")
FILES: Final = {
    text.partition("\n")[0].removeprefix("# "): text
    for text in re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
}
"""The text of each file, by the path in its first line."""

_INSTALLS: Final = ("pip install ", "npm install", "npx playwright install ")
"""Steps that the tests replace: they run with the packages of this checkout."""


def jobs(file: str) -> Any:
    return YAML(typ="safe").load(FILES[file])["jobs"]


def commands(job: str) -> list[str]:
    """Return the commands of a job of the first workflow, without the installation of packages."""
    steps = [step["run"] for step in jobs(".github/workflows/tests.yml")[job]["steps"] if "run" in step]
    # npx would take half a second to find an installed program.
    return [command.replace("npx ", "node_modules/.bin/") for command in steps if not command.startswith(_INSTALLS)]


def run_job(job: str, folder: Path, **environment: str) -> str:
    """Run a job as GitHub does: each command in a new shell that stops at the first error. Return the output."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("TICKOVER_")}
    output = ""
    for command in commands(job):
        ran = subprocess.run(
            ["bash", "-e", "-c", command], cwd=folder, env=inherited | {"CI": "true"} | environment,
            capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        output += ran.stdout + ran.stderr
        assert ran.returncode == 0, output
    return output
