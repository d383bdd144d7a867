"""Runs Node.js programs that drive the Firefox of Debian with Puppeteer. Playwright can't."""

import os
import shutil
import subprocess
from pathlib import Path

from tests.support.debian_packages import require
from tests.support.npm_packages import tools
from tests.support.repository import ROOT


def run_in_firefox(script: str, home: Path, *arguments: str) -> str:
    """Return the output of a program in `tests/node`. It gets the path of Firefox after the first argument."""
    firefox = require(_find_firefox, "firefox-esr")
    tools()
    url, *others = arguments
    ran = subprocess.run(
        ["node", ROOT / "tests" / "node" / script, url, firefox, *others],
        # Firefox doesn't start if the home folder belongs to another user.
        env={**os.environ, "HOME": str(home)}, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def _find_firefox() -> str | None:
    return shutil.which("firefox-esr") or shutil.which("firefox")
