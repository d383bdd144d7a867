"""The environment, read once into one frozen value. A wrong or unknown setting is one clear sentence."""

import ipaddress
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

from msgspec import Struct
from msgspec.structs import replace

from tickover.server.domain.networks import Network, host_name, read_networks

PREFIX: Final = "TICKOVER_"
OUTBOX: Final = "outbox:"
CLIENT_VARIABLES: Final = frozenset({"TICKOVER_URL", "TICKOVER_TOKEN"})
"""What the client reads. A server that is started beside it has no use for them, and no quarrel with them."""


class SettingError(Exception):
    """The program cannot start as it was told to. The message is for the person who told it."""


class Setting(Struct, frozen=True):
    """One setting: where its value comes from, and what it is for."""

    name: str
    help: str
    default: str
    read: Callable[[str], Any]
    has_flag: bool = True
    may_hold_a_secret: bool = False

    @property
    def variable(self) -> str:
        return PREFIX + self.name.upper()


class Settings(Struct, frozen=True):
    host: str
    port: int
    data_dir: Path
    database_url: str
    database_connections: int
    workers: int
    mail_url: str
    mail_from: str
    public_url: str
    """Empty: the address that the server listens on."""
    secret_key: str
    """Empty: the one kept in the data folder."""
    log_level: str
    max_clocks_per_user: int
    max_bytes_per_user: int
    allowed_hosts: Sequence[str]
    """Empty: loopback names while listening on loopback, any name elsewhere."""
    trusted_proxies: Sequence[Network]
    cors_origins: Sequence[str]
    resend_seconds: int
    sends_per_hour: int
    sends_per_hour_per_network: int
    code_tries: int
    code_failures: int
    client_burst: int
    client_refill: float
    max_connections: int
    max_in_flight: int
    keep_alive_seconds: int
    drain_seconds: int


def _text(value: str) -> str:
    if not value.isprintable():
        raise ValueError("must be one line of text")
    return value


def _between(least: int, most: int, otherwise: str = "") -> Callable[[str], int]:
    def read(value: str) -> int:
        # The length first: to read thousands of digits takes long.
        if not (value.isascii() and value.isdigit() and len(value) <= 15 and least <= int(value) <= most):
            raise ValueError(otherwise or f"must be a whole number from {least} to {most}")
        return int(value)

    return read


_port: Final = _between(0, 65_535)
_count: Final = _between(0, 10**12, "must be a whole number, 0 for no limit")


def _rate(value: str) -> float:
    try:
        rate = float(value)
    except ValueError:
        rate = -1.0
    if not 0 <= rate <= 1_000_000:
        raise ValueError("must be a number a second, 0 for no limit")
    return rate


def _names(value: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in _text(value).split(",") if name.strip())


def _hosts(value: str) -> tuple[str, ...]:
    hosts = tuple(host_name(name.encode()) for name in _names(value))
    if not all(hosts):
        raise ValueError("must be host names such as clocks.example.com, separated by commas")
    return hosts


def _networks(value: str) -> tuple[Network, ...]:
    try:
        return read_networks(value)
    except ValueError:
        raise ValueError("must be addresses or networks such as 10.0.0.0/8, separated by commas") from None


def _web_address(value: str) -> SplitResult:
    """An address of the web that has a host and no more than a path behind it; ValueError otherwise."""
    parts = urlsplit(_text(value))
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0 or parts.query or parts.fragment:
        raise ValueError
    if parts.username or parts.password or " " in value:
        raise ValueError
    return parts


def _origins(value: str) -> tuple[str, ...]:
    origins = _names(value)
    try:
        if all(_web_address(origin).path == "" for origin in origins):
            return origins
    except ValueError:
        pass
    raise ValueError("must be origins such as https://app.example.com, separated by commas")


def _public_url(value: str) -> str:
    try:
        return _web_address(value).geturl().rstrip("/") if value else ""
    except ValueError:
        raise ValueError("must be an address such as https://clocks.example.com") from None


def _secret_key(value: str) -> str:
    if value and len(_text(value)) < 16:
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
    Setting(
        "database_url",
        "Database: sqlite:///PATH or postgresql://USER:PASSWORD@HOST/NAME. Default: tickover.db in the data folder.",
        "",
        _text,
        may_hold_a_secret=True,
    ),
    Setting("database_connections", "Connections to PostgreSQL that one process may hold.", "10", _between(1, 1000)),
    Setting("workers", "Processes that serve; more than one needs PostgreSQL.", "1", _between(1, 256)),
    Setting(
        "mail_url",
        "Where mail goes: smtp://USER:PASSWORD@HOST:587, smtps://…, or outbox: (kept here, never sent).",
        "",
        _text,
        may_hold_a_secret=True,
    ),
    Setting("mail_from", "Sender of the letters.", "Tickover <tickover@localhost>", _text),
    Setting("public_url", "What login links begin with. Default: the address listened on.", "", _public_url),
    Setting(
        "secret_key",
        "Key under which codes are kept. Default: one made in the data folder.",
        "",
        _secret_key,
        has_flag=False,
        may_hold_a_secret=True,
    ),
    Setting("log_level", f"How much to log: {', '.join(LOG_LEVELS)}.", "info", _log_level),
    Setting("max_clocks_per_user", "Live clocks that one user may have; 0 for any number.", "10000", _count),
    Setting("max_bytes_per_user", "Bytes that one user's live clocks may take; 0 for no limit.", "268435456", _count),
    Setting(
        "allowed_hosts",
        "Host names to answer to, with commas. Default: on loopback its names and the public URL's, else any.",
        "",
        _hosts,
    ),
    Setting("trusted_proxies", "Proxies whose X-Forwarded-For is believed, as addresses or networks.", "", _networks),
    Setting("cors_origins", "Origins whose pages may call from a browser, with commas.", "", _origins),
    Setting("resend_seconds", "Time between two letters to one address.", "60", _between(1, 3600)),
    Setting("sends_per_hour", "Letters an hour to one address without a sign-in; 0 for any number.", "30", _count),
    Setting("sends_per_hour_per_network", "The same, from one client network.", "10", _count),
    Setting("code_tries", "Tries that one code allows.", "5", _between(1, 10)),
    Setting("code_failures", "Failures in a row until only a link signs in.", "100", _between(1, 1000)),
    Setting("client_burst", "Sign-in calls that one client address may make at once; 0 for any number.", "300", _count),
    Setting("client_refill", "Sign-in calls a second that one client address may go on with; 0: no limit.", "5", _rate),
    Setting("max_connections", "Connections that one process keeps open.", "5000", _between(1, 1_000_000)),
    Setting("max_in_flight", "Calls that one process answers at the same time.", "512", _between(1, 1_000_000)),
    Setting("keep_alive_seconds", "How long an idle connection stays open.", "75", _between(1, 3600)),
    Setting("drain_seconds", "How long to go on serving after SIGTERM.", "0", _between(0, 3600)),
)


def read_settings(environment: Mapping[str, str], flags: Mapping[str, str]) -> Settings:
    """The settings of this start: flags first, then the environment, then the defaults."""
    _refuse_unknown(environment)
    values: dict[str, Any] = {}
    for setting in SETTINGS:
        given = flags.get(setting.name) or environment.get(setting.variable) or setting.default
        try:
            values[setting.name] = setting.read(given)
        except ValueError as error:
            shown = "" if setting.may_hold_a_secret else f", not {given!r}"
            raise SettingError(f"{setting.variable} {error}{shown}.") from None
    values["data_dir"] = Path(values["data_dir"])
    values["database_url"] = values["database_url"] or f"sqlite:///{values['data_dir'] / 'tickover.db'}"
    settings = Settings(**values)
    return settings if settings.mail_url else replace(settings, mail_url=_default_mail_url(settings))


def _refuse_unknown(environment: Mapping[str, str]) -> None:
    known = [setting.variable for setting in SETTINGS]
    for variable in environment:
        if variable.startswith(PREFIX) and variable not in known and variable not in CLIENT_VARIABLES:
            # Without the prefix, which makes everything look alike.
            names = [name.removeprefix(PREFIX) for name in known]
            nearest = get_close_matches(variable.removeprefix(PREFIX).upper(), names, n=1)
            hint = f"did you mean {PREFIX}{nearest[0]}?" if nearest else f"known are {', '.join(known)}."
            raise SettingError(f"{variable} is not a setting; {hint}")


def _default_mail_url(settings: Settings) -> str:
    """Return the outbox; SettingError if people on other machines may reach the server."""
    exposure = how_exposed(settings)
    if not exposure:
        return OUTBOX
    raise SettingError(
        f"TICKOVER_MAIL_URL must be set {exposure}: smtp://… for real mail, or outbox: if everyone who "
        "reaches this server may sign in as anyone."
    )


def how_exposed(settings: Settings) -> str:
    """Say why people on other machines may reach the server, as a clause; empty if nothing suggests it."""
    if not is_loopback(settings.host):
        return f"when listening on {settings.host}"
    if settings.trusted_proxies:
        return "when TICKOVER_TRUSTED_PROXIES names a proxy"
    public_host = urlsplit(settings.public_url).hostname
    if public_host and not is_loopback(public_host):
        return f"when TICKOVER_PUBLIC_URL names another host ({public_host})"
    foreign = [name for name in settings.allowed_hosts if not is_loopback(name)]
    return f"when TICKOVER_ALLOWED_HOSTS names another host ({foreign[0]})" if foreign else ""


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
