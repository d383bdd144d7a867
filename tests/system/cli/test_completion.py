"""Tests of shell completion."""

import subprocess
import sys
from pathlib import Path

from tests.support.debian_packages import require_program
from tests.system.shells import Shell


def test_bash_completes_with_the_script(offline_shell: Shell, tmp_path: Path) -> None:
    require_program("bash")
    command = Path(sys.executable).with_name("tickover")
    script = f"""eval "$({command} completion bash)"
COMP_WORDS=({command} clock cre) COMP_CWORD=2
_tickover_completion {command}
echo "${{COMPREPLY[@]}}"
"""
    result = subprocess.run(
        ["bash", "--norc", "-c", script],
        capture_output=True, text=True, timeout=120, check=True, env=offline_shell.environment(),
    )  # fmt: skip
    assert result.stdout == "create\n"
