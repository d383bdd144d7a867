"""The environment, read once into one frozen value. A wrong or unknown setting is one clear sentence."""

import ipaddress
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from msgspec import Struct

PREFIX: Final = "TICKOVER_"
OUTBOX: Final = "outbox:"


class SettingError(Exception):
    """The program cannot start as it was told to. The message is for the person who told it."""


class Setting(Struct, frozen=True):
    """One setting: where its value comes from, and what it is for."""

    name: str
    help: str
    default: str
    read: Callable[[str], Any]
    has_flag: bool = True

    @property
    def variable(self) -> str:
        return PREFIX + self.name.upper()


class Settings(Struct, frozen=True):
    host: str
    port: int
    data_dir: Path
    database_url: str
    mail_url: str
    mail_from: str
    public_url: str
    """Empty: the address that the server listens on."""
    secret_key: str
    """Empty: the one kept in the data folder."""
    log_level: str
    max_clocks_per_user: int


def _text(value: str) -> str:
    if not value.isprintable():
        raise ValueError("must be one line of text")
    return value


def _port(value: str) -> int:
    if not (value.isascii() and value.isdigit() and int(value[:6]) <= 65_535):
        raise ValueError("must be a whole number from 0 to 65535")
    return int(value)


def _count(value: str) -> int:
    if not (value.isascii() and value.isdigit() and len(value) <= 12):
        raise ValueError("must be a whole number, 0 for no limit")
    return int(value)


def _public_url(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise ValueError("must be an address such as https://clocks.example.com")
    return value.rstrip("/")


def _secret_key(value: str) -> str:
    if len(value) < 16:
        raise ValueError("must have at least 16 characters; `openssl rand -hex 32` makes a good one")
    return value


def _log_level(value: str) -> str:
    if value.lower() not in LOG_LEVELS:
        raise ValueError(f"must be one of {', '.join(LOG_LEVELS)}")
    return value.lower()


LOG_LEVELS: Final = ("debug", "info", "warning", "error")

SETTINGS: Final = (
    Setting("host", "Address to listen on.", "127.0.0.1", _text),
    Setting("port", "Port to listen on; 0 takes a free one.", "8000", _port),
    Setting("data_dir", "Folder for the database, the secret key and the outbox.", ".tickover", _text),
    Setting("database_url", "Database, as sqlite:///PATH. Default: tickover.db in the data folder.", "", _text),
    Setting(
        "mail_url",
        "Where mail goes: smtp://USER:PASSWORD@HOST:587, smtps://…, or outbox: (kept here, never sent).",
        "",
        _text,
    ),
    Setting("mail_from", "Sender of the letters.", "Tickover <tickover@localhost>", _text),
    Setting("public_url", "What login links begin with. Default: the address listened on.", "", _public_url),
    Setting(
        "secret_key", "Key under which codes are kept. Default: one made in the data folder.", "", _secret_key, False
    ),
    Setting("log_level", f"How much to log: {', '.join(LOG_LEVELS)}.", "info", _log_level),
    Setting("max_clocks_per_user", "Live clocks that one user may have; 0 for any number.", "10000", _count),
)


def read_settings(environment: Mapping[str, str], flags: Mapping[str, str]) -> Settings:
    """The settings of this start: flags first, then the environment, then the defaults."""
    _refuse_unknown(environment)
    values: dict[str, Any] = {}
    for setting in SETTINGS:
        given = flags.get(setting.name) or environment.get(setting.variable) or setting.default
        try:
            values[setting.name] = setting.read(given) if given else ""
        except ValueError as error:
            shown = "" if setting.name == "secret_key" else f", not {given!r}"
            raise SettingError(f"{setting.variable} {error}{shown}.") from None
    values["data_dir"] = Path(values["data_dir"])
    values["database_url"] = values["database_url"] or f"sqlite:///{values['data_dir'] / 'tickover.db'}"
    values["mail_url"] = values["mail_url"] or _default_mail_url(values["host"])
    return Settings(**values)


def _refuse_unknown(environment: Mapping[str, str]) -> None:
    known = [setting.variable for setting in SETTINGS]
    for variable in environment:
        if variable.startswith(PREFIX) and variable not in known:
            nearest = get_close_matches(variable, known, n=1)
            hint = f"did you mean {nearest[0]}?" if nearest else f"known are {', '.join(known)}."
            raise SettingError(f"{variable} is not a setting; {hint}")


def _default_mail_url(host: str) -> str:
    """The outbox, but only where nobody from outside can ask it for a code."""
    if is_loopback(host):
        return OUTBOX
    raise SettingError(
        f"TICKOVER_MAIL_URL must be set when listening on {host}: smtp://… for real mail, or outbox: if everyone who "
        "reaches this address may sign in as anyone."
    )


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
