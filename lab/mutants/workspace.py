"""A copy of the working tree with its own Python environment, in a temporary folder.

All processes of a test import the copy, whatever their environment variables and folder are: they run the copy's own
interpreter. Its environment has the copy's `src`, and the packages and programs of the real environment.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from lab.mutants.mutant import ROOT

_SECONDS: Final = 600
_LINKED: Final = ("tests/node/node_modules",)
"""Downloads that tests keep in the repository's folder."""
_FAILED: Final = re.compile(r"^(?:FAILED|ERROR) (\S+?\.py::.+?)(?: - .*)?$", re.MULTILINE)
_ERROR: Final = re.compile(r"^E +(.*)$", re.MULTILINE)


class Run(NamedTuple):
    """The end of a pytest run. The exit code is None if it took too long."""

    exit_code: int | None
    output: str

    @property
    def failed_tests(self) -> list[str]:
        return _FAILED.findall(self.output)

    @property
    def error(self) -> str:
        """The first line of the first error."""
        match = _ERROR.search(self.output)
        return match[1] if match else ""


class Workspace:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._python = folder / ".venv" / "bin" / "python"

    @contextmanager
    def patched(self, patch: Path) -> Iterator[bool]:
        """Apply a patch inside the context. Return whether it applies."""
        applied = self._git_apply(patch)
        try:
            yield applied
        finally:
            if applied:
                self._git_apply("--reverse", patch)

    def _git_apply(self, *arguments: str | Path) -> bool:
        ran = subprocess.run(["git", "apply", *arguments], cwd=self._folder, capture_output=True, check=False)
        return ran.returncode == 0

    def run_tests(self, *tests: str, stop_at_failure: bool = True) -> Run:
        """Run pytest on these tests."""
        # With a worker, a test that hangs has a name and fails.
        options = ["-q", "-n", "1", "-p", "no:cacheprovider", *(["-x"] if stop_at_failure else [])]
        command = [str(self._python), "-m", "pytest", *options, *tests]
        process = subprocess.Popen(
            command, cwd=self._folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, start_new_session=True,
        )  # fmt: skip
        try:
            output, _ = process.communicate(timeout=_SECONDS)
        except subprocess.TimeoutExpired:
            return Run(None, _stop(process))
        except BaseException:
            _stop(process)
            raise
        return Run(process.returncode, output)


def _stop(process: "subprocess.Popen[str]") -> str:
    """Stop pytest and the processes that its tests have started. Return its output."""
    # Like Ctrl-C, so that the tests stop their servers and databases.
    os.killpg(process.pid, signal.SIGINT)
    try:
        output, _ = process.communicate(timeout=30)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
    return output


@contextmanager
def open_workspace() -> Iterator[Workspace]:
    """Copy the files that are, or would be, in the repository."""
    with TemporaryDirectory(prefix="tickover-mutants-", ignore_cleanup_errors=True) as name:
        folder = Path(name).resolve()
        _copy_files(folder)
        _create_environment(folder)
        yield Workspace(folder)


def _copy_files(folder: Path) -> None:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        # A deleted file stays in the index until the deletion is committed.
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    for name in _LINKED:
        if (ROOT / name).exists():
            (folder / name).symlink_to(ROOT / name)


def _create_environment(folder: Path) -> None:
    venv.create(folder / ".venv", symlinks=True)
    [packages] = (folder / ".venv" / "lib").glob("python*/site-packages")
    for package in Path(sysconfig.get_path("purelib")).iterdir():
        # One of the .pth files adds `src` of the real tree.
        if package.suffix != ".pth" and not (packages / package.name).exists():
            (packages / package.name).symlink_to(package)
    (packages / "mutants.pth").write_text(f"{folder / 'src'}\n")
    _copy_programs(Path(sysconfig.get_path("scripts")), folder / ".venv" / "bin")
    script = "import tickover; print(tickover.__file__)"
    command = [str(folder / ".venv" / "bin" / "python"), "-c", script]
    imported = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.strip()
    if not Path(imported).is_relative_to(folder):
        sys.exit(f"The tests would import {imported}, not the copy in {folder}.")


def _copy_programs(source: Path, target: Path) -> None:
    """Add the programs of packages, such as `tickover`. Scripts run the interpreter in `target`."""
    for program in source.iterdir():
        copy = target / program.name
        if copy.exists() or not os.access(program, os.X_OK):
            continue
        with program.open("rb") as file:
            first = file.readline(1000)
            if first.startswith(b"#!" + bytes(source)):
                copy.write_bytes(first.replace(bytes(source), bytes(target)) + file.read())
                copy.chmod(0o755)
            else:
                copy.symlink_to(program)
