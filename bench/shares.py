"""Equal small shares of the CPU for some processes, so that something else than the machine itself can be measured.

On two cores a generator, a database and two workers want more than there is, and a second worker cannot show what it
adds. Held to a share each, by a control group of the kernel, the workers are the limit and all else has room.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

_TREE = Path("/sys/fs/cgroup")
_PERIOD_MICROS = 100_000
"""The kernel's own: when processes are stopped more often than this, stopping them is what is measured."""


class NoShares(Exception):
    """Why processes cannot be held to a share here."""


class _Tree(NamedTuple):
    folder: Path
    is_unified: bool

    def limit(self, group: Path, share: float) -> None:
        quota = int(share * _PERIOD_MICROS)
        if self.is_unified:
            (group / "cpu.max").write_text(f"{quota} {_PERIOD_MICROS}")
            return
        (group / "cpu.cfs_period_us").write_text(str(_PERIOD_MICROS))
        (group / "cpu.cfs_quota_us").write_text(str(quota))


@contextmanager
def held_to(share: float, pids: Sequence[int]) -> Iterator[None]:
    """Each of the processes gets at most this share of one core, until left; NoShares where that cannot be."""
    tree = _find_tree()
    groups: list[Path] = []
    try:
        _make_groups(tree, groups, share, pids)
        yield
    finally:
        for group in groups:
            _disband(tree, group)


def _make_groups(tree: _Tree, groups: list[Path], share: float, pids: Sequence[int]) -> None:
    try:
        for pid in pids:
            group = tree.folder / f"tickover-bench-{os.getpid()}-{pid}"
            group.mkdir()
            groups.append(group)
            tree.limit(group, share)
            (group / "cgroup.procs").write_text(str(pid))
    except OSError as error:
        raise NoShares(f"control groups cannot be written here ({error.strerror})") from None


def _find_tree() -> _Tree:
    for name in ("cpu", "cpu,cpuacct"):
        if (_TREE / name / "cpu.cfs_quota_us").exists() or (_TREE / name / "cpu.shares").exists():
            return _Tree(_TREE / name, is_unified=False)
    controllers = _TREE / "cgroup.subtree_control"
    if controllers.exists():
        with suppress(OSError):
            controllers.write_text("+cpu")
            return _Tree(_TREE, is_unified=True)
        raise NoShares("control groups cannot be written here")
    raise NoShares("there are no control groups here")


def _disband(tree: _Tree, group: Path) -> None:
    """Its processes, if they still live, go back to where all others are."""
    with suppress(OSError):
        for pid in (group / "cgroup.procs").read_text().split():
            with suppress(OSError):
                (tree.folder / "cgroup.procs").write_text(pid)
        group.rmdir()
