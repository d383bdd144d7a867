"""The server's settings: their names, defaults and help, and how they are read from flags and the environment.

Other packages raise `SettingError` when they can't start with their setting.
"""

import stat
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, get_type_hints
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from tickover.api.suggestions import suggest
from tickover.server import setting_values as values
from tickover.server.networks import Network, is_loopback

PREFIX: Final = "TICKOVER_"
OUTBOX: Final = "outbox:"
CLIENT_VARIABLES: Final = frozenset({"TICKOVER_URL", "TICKOVER_TOKEN", "TICKOVER_WEBHOOK_SECRET"})
"""Client-only variables; the server ignores them."""
_MAX_FILE_BYTES: Final = 64 * 1024


class SettingError(Exception):
    """The server can't start with these settings. The message is printed for the operator."""


class Setting(Struct, frozen=True):
    """One setting: its name, help text, default and parser."""

    help: str
    read: Callable[[str], Any]
    default: str = ""
    has_flag: bool = True
    may_hold_a_secret: bool = False
    name: str = ""
    """That of its field in Settings."""

    @property
    def variable(self) -> str:
        return PREFIX + self.name.upper()

    @property
    def file_variable(self) -> str:
        """The variable that names a file with the value, or "" if the setting holds no secret."""
        return f"{self.variable}_FILE" if self.may_hold_a_secret else ""


class Settings(Struct, frozen=True):
    """The values of all settings. Each field is declared with its setting."""

    host: Annotated[str, Setting("Address to listen on.", values.text, "127.0.0.1")]
    port: Annotated[int, Setting("Port to listen on. 0 picks a free port.", values.port, "8000")]
    data_dir: Annotated[
        Path,
        Setting(
            "Folder for the database, the secret key, the bank's certificate and the outbox.",
            values.folder,
            ".tickover",
        ),
    ]
    database_url: Annotated[
        str,
        Setting(
            "Database: sqlite:///PATH or postgresql://USER:PASSWORD@HOST/NAME. "
            "Default: tickover.db in the data folder.",
            lambda value: values.database_url(value) if value else "",
            may_hold_a_secret=True,
        ),
    ]
    database_connections: Annotated[
        int, Setting("Maximum PostgreSQL connections per process.", values.between(1, 1000), "10")
    ]
    workers: Annotated[
        int, Setting("Number of server processes. More than one requires PostgreSQL.", values.between(1, 256), "1")
    ]
    mail_url: Annotated[
        str,
        Setting(
            "Mail server: smtp://USER:PASSWORD@HOST:587 or smtps://…, or outbox: to write emails to files.",
            values.text,
            may_hold_a_secret=True,
        ),
    ]
    mail_from: Annotated[str, Setting("Sender of emails.", values.text, "Tickover <tickover@localhost>")]
    public_url: Annotated[
        str, Setting("Base URL of login links. Default: the address that the server listens on.", values.public_url)
    ]
    """Empty means the address that the server listens on."""
    bank_https: Annotated[
        values.HostAndPort | None,
        Setting(
            "Address for the bank's own names, such as sandbox.plaid.com, over HTTPS: 127.0.0.1:443, or a port on "
            "TICKOVER_HOST. Default: none.",
            lambda value: values.host_and_port(value) if value else None,
        ),
    ]
    bank_url: Annotated[
        str, Setting("Base URL of SimpleFIN in setup tokens. Default: the public URL.", values.public_url)
    ]
    """Empty means the public URL."""
    secret_key: Annotated[
        str,
        Setting(
            "Key that protects stored codes. Default: secret.key in the data folder.",
            values.secret_key,
            has_flag=False,
            may_hold_a_secret=True,
        ),
    ]
    """Empty means the key file in the data folder."""
    log_level: Annotated[
        str,
        Setting(
            "Lowest level to log: debug, info, warning, error.",
            values.one_of("debug", "info", "warning", "error"),
            "info",
        ),
    ]
    log_format: Annotated[
        str,
        Setting(
            "Format of the log: text, json, or auto for text on a terminal.",
            values.one_of("auto", "text", "json"),
            "auto",
        ),
    ]
    access_log: Annotated[bool, Setting("Log every HTTP request: on or off.", values.switch, "off")]
    tracing: Annotated[bool, Setting("Send traces by OpenTelemetry: on or off.", values.switch, "off")]
    max_clocks_per_user: Annotated[int, Setting("Maximum live clocks per user; 0 for no limit.", values.count, "10000")]
    max_bytes_per_user: Annotated[
        int, Setting("Maximum stored bytes of a user's live clocks; 0 for no limit.", values.count, "268435456")
    ]
    allowed_hosts: Annotated[
        Sequence[str],
        Setting(
            "Accepted Host names, separated by commas. Default on loopback: loopback names and the public URL's host; "
            "elsewhere with the outbox: also IP addresses; otherwise any name.",
            values.hosts,
        ),
    ]
    """Empty means any name, unless the server listens on loopback or has an outbox. See `HostCheck`."""
    trusted_proxies: Annotated[
        Sequence[Network],
        Setting(
            "Proxies whose X-Forwarded-For is trusted: IP addresses or networks, separated by commas.", values.proxies
        ),
    ]
    cors_origins: Annotated[
        Sequence[str], Setting("Origins that may call the API from a browser, separated by commas.", values.origins)
    ]
    resend_seconds: Annotated[
        int, Setting("Minimum seconds between two emails to one address.", values.between(1, 3600), "60")
    ]
    sends_per_hour: Annotated[
        int,
        Setting(
            "Maximum emails per hour to one address; a sign-in resets the count; 0 for no limit.", values.count, "30"
        ),
    ]
    sends_per_hour_per_network: Annotated[
        int,
        Setting(
            "Maximum emails per hour to one address from one client network; a sign-in resets the count; "
            "0 for no limit.",
            values.count,
            "10",
        ),
    ]
    allowed_emails: Annotated[
        Sequence[str],
        Setting(
            "Email addresses and domains such as @example.com that may sign in, separated by commas. [default: all]",
            values.allowed_emails,
        ),
    ]
    test_codes: Annotated[
        Mapping[str, str],
        Setting(
            "Fixed codes for addresses in reserved domains, such as app.test=123456, separated by commas.",
            values.test_codes,
            has_flag=False,
            may_hold_a_secret=True,
        ),
    ]
    """By domain."""
    client_burst: Annotated[
        int, Setting("Sign-in calls that a client address may make in a burst; 0 for no limit.", values.count, "300")
    ]
    client_refill: Annotated[
        float, Setting("Sign-in calls per second that a client address may sustain; 0 for no limit.", values.rate, "5")
    ]
    max_connections: Annotated[
        int, Setting("Maximum open connections per process.", values.between(1, 1_000_000), "5000")
    ]
    max_in_flight: Annotated[int, Setting("Maximum concurrent calls per process.", values.between(1, 1_000_000), "512")]
    keep_alive_seconds: Annotated[
        int, Setting("Seconds until an idle connection is closed.", values.between(1, 3600), "75")
    ]
    drain_seconds: Annotated[int, Setting("Seconds to keep serving after SIGTERM.", values.between(0, 3600), "0")]
    webhook_hosts: Annotated[
        Sequence[str],
        Setting(
            "Hosts whose webhooks the server may call, separated by commas. Default on loopback: localhost, 127.0.0.1 "
            "and ::1; otherwise none.",
            values.hosts,
        ),
    ]
    metrics_port: Annotated[
        int | None,
        Setting(
            "Port of the metrics for Prometheus. Default: no metrics.",
            lambda value: values.port(value) if value else None,
        ),
    ]
    """None means no metrics."""
    metrics_host: Annotated[str, Setting("Address to serve the metrics on.", values.text, "127.0.0.1")]

    def with_address(self, url: str) -> "Settings":
        """Return the settings of a server at this URL."""
        public_url = self.public_url or url
        return replace(self, public_url=public_url, bank_url=self.bank_url or public_url)


SETTINGS: Final[Sequence[Setting]] = [
    replace(declared, name=name)
    for name, hint in get_type_hints(Settings, include_extras=True).items()
    for declared in hint.__metadata__
]


def read_settings(environment: Mapping[str, str], flags: Mapping[str, str]) -> Settings:
    """Return the settings. Flags override the environment, which overrides the defaults."""
    _reject_unknown(environment)
    chosen: dict[str, Any] = {}
    for setting in SETTINGS:
        value = flags.get(setting.name) or _read_value(setting, environment) or setting.default
        try:
            chosen[setting.name] = setting.read(value)
        except ValueError as error:
            # A URL may have a password even where none is allowed.
            is_secret = setting.may_hold_a_secret or "@" in value or "?" in value
            suffix = "" if is_secret else f", not {value!r}"
            raise SettingError(f"{setting.variable} {error}{suffix}.") from None
    chosen["database_url"] = chosen["database_url"] or f"sqlite:///{chosen['data_dir'] / 'tickover.db'}"
    settings = Settings(**chosen)
    if settings.bank_https is not None and not settings.bank_https.host:
        settings = replace(settings, bank_https=settings.bank_https._replace(host=settings.host))
    if not settings.webhook_hosts and is_loopback(settings.host):
        settings = replace(settings, webhook_hosts=("localhost", "127.0.0.1", "::1"))
    return settings if settings.mail_url else replace(settings, mail_url=_default_mail_url(settings))


def _read_value(setting: Setting, environment: Mapping[str, str]) -> str:
    """Return the value of the setting's variable, or of the file that another variable names."""
    value = environment.get(setting.variable, "")
    file = environment.get(setting.file_variable, "")
    if not file:
        return value
    if value:
        raise SettingError(f"{setting.variable} and {setting.file_variable} are both set. Unset one of them.")
    try:
        found = Path(file).stat()
        # A pipe or a device may never end.
        is_readable = stat.S_ISREG(found.st_mode) and found.st_size <= _MAX_FILE_BYTES
        content = Path(file).read_text("utf-8") if is_readable else ""
    except (OSError, ValueError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or "it isn't UTF-8 text"
        raise SettingError(f"{setting.file_variable} names a file that can't be read ({file}): {reason}.") from None
    if not content.strip():
        raise SettingError(f"{setting.file_variable} must name a file with one line of at most 64 KiB, not {file!r}.")
    return content.removesuffix("\n")


def has_password(url: str) -> bool:
    """Return whether a database or mail URL contains a password."""
    authority, _, rest = url.partition("://")[2].partition("?")
    user = authority.rpartition("@")[0]
    return ":" in user or "password=" in rest


def _reject_unknown(environment: Mapping[str, str]) -> None:
    known = [setting.variable for setting in SETTINGS]
    known += [setting.file_variable for setting in SETTINGS if setting.file_variable]
    for variable in environment:
        if variable.startswith(PREFIX) and variable not in known and variable not in CLIENT_VARIABLES:
            # Compare without the prefix, because it makes all names similar.
            names = [name.removeprefix(PREFIX) for name in known]
            name, available = variable.removeprefix(PREFIX).upper(), f"available settings: {', '.join(known)}."
            hint = suggest(name, names, PREFIX + "{}", fallback=available)
            raise SettingError(f"{variable} is not a setting{hint}")


def _default_mail_url(settings: Settings) -> str:
    """Return the outbox. Raise SettingError if other machines may reach the server."""
    exposure = exposure_reason(settings)
    if not exposure:
        return OUTBOX
    raise SettingError(
        f"TICKOVER_MAIL_URL must be set {exposure}. Use smtp://… to send emails, or outbox: if anyone who "
        "can reach this server may sign in as any user."
    )


def exposure_reason(settings: Settings) -> str:
    """Return a clause that says why other machines may reach the server, or "" if no setting suggests it."""
    if not is_loopback(settings.host):
        return f"when listening on {settings.host}"
    if settings.trusted_proxies:
        return "when TICKOVER_TRUSTED_PROXIES names a proxy"
    public_host = urlsplit(settings.public_url).hostname
    if public_host and not is_loopback(public_host):
        return f"when TICKOVER_PUBLIC_URL names another host ({public_host})"
    foreign = [name for name in settings.allowed_hosts if not is_loopback(name)]
    return f"when TICKOVER_ALLOWED_HOSTS names another host ({foreign[0]})" if foreign else ""
