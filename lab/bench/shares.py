"""Limits processes to equal small shares of the CPU.

On two cores, a load generator, a database and two workers need more than the machine has, so a second worker would add
nothing. With a control group that limits each worker, the workers are the bottleneck.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

_TREE = Path("/sys/fs/cgroup")
_PERIOD_MICROS = 100_000
"""The kernel's default. With shorter periods, the cost of stopping processes would dominate."""


class SharesUnavailable(Exception):
    """Processes can't be limited on this machine."""


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
def limit_to(share: float, pids: Sequence[int]) -> Iterator[None]:
    """Limit each process to this share of one core. Raise SharesUnavailable if that is impossible."""
    tree = _find_tree()
    groups: list[Path] = []
    try:
        _make_groups(tree, groups, share, pids)
        yield
    finally:
        for group in groups:
            _remove_groups(tree, group)


def _make_groups(tree: _Tree, groups: list[Path], share: float, pids: Sequence[int]) -> None:
    try:
        for pid in pids:
            group = tree.folder / f"tickover-bench-{os.getpid()}-{pid}"
            group.mkdir()
            groups.append(group)
            tree.limit(group, share)
            (group / "cgroup.procs").write_text(str(pid))
    except OSError as error:
        raise SharesUnavailable(f"control groups are not writable ({error.strerror})") from None


def _find_tree() -> _Tree:
    for name in ("cpu", "cpu,cpuacct"):
        if (_TREE / name / "cpu.cfs_quota_us").exists() or (_TREE / name / "cpu.shares").exists():
            return _Tree(_TREE / name, is_unified=False)
    controllers = _TREE / "cgroup.subtree_control"
    if controllers.exists():
        with suppress(OSError):
            controllers.write_text("+cpu")
            return _Tree(_TREE, is_unified=True)
        raise SharesUnavailable("control groups are not writable")
    raise SharesUnavailable("this machine has no control groups")


def _remove_groups(tree: _Tree, group: Path) -> None:
    """Move the processes back to the parent group, and remove the groups."""
    with suppress(OSError):
        for pid in (group / "cgroup.procs").read_text().split():
            with suppress(OSError):
                (tree.folder / "cgroup.procs").write_text(pid)
        group.rmdir()
