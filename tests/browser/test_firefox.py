"""The main path of the console in Firefox. Puppeteer drives the Firefox of Debian; Playwright can't."""

import os
import shutil
import subprocess
from pathlib import Path

from tests.support.debian_packages import require
from tests.support.npm_packages import tools
from tests.support.program import Program
from tests.support.repository import ROOT


def test_new_user_completes_a_first_session_in_firefox(program: Program, tmp_path: Path) -> None:
    firefox = require(_find_firefox, "firefox-esr")
    tools()
    ran = subprocess.run(
        ["node", ROOT / "tests" / "node" / "firefox.mjs", program.url, firefox],
        # Firefox doesn't start if the home folder belongs to another user.
        env={**os.environ, "HOME": str(tmp_path)}, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr


def _find_firefox() -> str | None:
    return shutil.which("firefox-esr") or shutil.which("firefox")
