"""The temporary folder of a benchmark or a soak test."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def open_run_folder(parent: Path, *, keep_files: bool) -> Iterator[Path]:
    """Create a folder for temporary files on the project's disk, because /tmp may be in memory.

    At the end, delete the folder. With `keep_files`, delete it only if it is empty.
    """
    parent.mkdir(exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="run-", dir=parent))
    # PostgreSQL may run as another user, who needs access to its folder.
    folder.chmod(0o755)
    before, tempfile.tempdir = tempfile.tempdir, str(folder)
    try:
        yield folder
    finally:
        tempfile.tempdir = before
        if not keep_files or not any(folder.iterdir()):
            shutil.rmtree(folder, ignore_errors=True)
