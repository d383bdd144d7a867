"""Finds Debian's Chromium, and installs it if that is possible."""

import shutil
from contextlib import suppress
from ctypes import CDLL
from typing import Final

from tests.support.debian_packages import install, require

_HEADLESS_SHELL: Final = "chromium-headless-shell"
_BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome")


def require_chromium() -> str:
    """Return the path of the headless shell, which needs less time than the whole browser, or of a browser."""
    if not _has_libatomic():
        # Playwright's driver needs it.
        install("libatomic1", unless=_has_libatomic)
    if _find_headless_shell() is None:
        install(_HEADLESS_SHELL, unless=_find_headless_shell)
    return _find_headless_shell() or require(_find_browser, "chromium")


def _has_libatomic() -> bool:
    with suppress(OSError):
        return bool(CDLL("libatomic.so.1"))
    return False


def _find_headless_shell() -> str | None:
    return shutil.which(_HEADLESS_SHELL)


def _find_browser() -> str | None:
    return next(filter(None, map(shutil.which, _BROWSERS)), None)
