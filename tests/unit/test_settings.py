"""Settings: valid values, and errors in one sentence without secrets."""

import os
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest

from tickover.server.settings import SETTINGS, SettingError, has_password, read_settings

_KEY = "a key of 16 char"

_GOOD: list[tuple[str, str, Any]] = [
    ("port", "0", 0),
    ("data_dir", "else/where", Path("else/where")),
    ("database_url", "sqlite:///else/where.db", "sqlite:///else/where.db"),
    ("mail_url", "outbox:", "outbox:"),
    ("mail_from", "Ünï <login@example.com>", "Ünï <login@example.com>"),
    ("public_url", "https://clocks.example.com", "https://clocks.example.com"),
    ("public_url", "http://[::1]:8000/below/", "http://[::1]:8000/below"),
    ("secret_key", _KEY, _KEY),
    ("log_format", "JSON", "json"),
    ("access_log", "ON", True),
    ("max_clocks_per_user", "0", 0),
    ("allowed_hosts", "Clocks.example.com, [::1]:8000", ("clocks.example.com", "::1")),
    ("trusted_proxies", "10.1.2.3/8, ::1", (ip_network("10.0.0.0/8"), ip_network("::1"))),
    ("trusted_proxies", "fd00::/16", (ip_network("fd00::/16"),)),
    ("cors_origins", "https://a.test, http://localhost:3000", ("https://a.test", "http://localhost:3000")),
    ("resend_seconds", "3600", 3600),
    ("allowed_emails", "Ana@App.test, @Team.test", ("ana@app.test", "@team.test")),
    ("test_codes", "App.test=123456, example.org=000000", {"app.test": "123456", "example.org": "000000"}),
    ("client_refill", "0.5", 0.5),
    ("metrics_port", "65535", 65_535),
]


@pytest.mark.parametrize(("name", "written", "read"), _GOOD, ids=[f"{name}={text}" for name, text, _ in _GOOD])
def test_valid_value_is_read_from_its_variable_or_its_flag(name: str, written: str, read: Any) -> None:
    variable, others = f"TICKOVER_{name.upper()}", {"TICKOVER_MAIL_URL": "outbox:"}
    assert getattr(read_settings(others | {variable: written}, {}), name) == read
    assert getattr(read_settings(others | {variable: "refused\nif read"}, {name: written}), name) == read


def test_empty_value_is_the_default() -> None:
    assert read_settings({setting.variable: "" for setting in SETTINGS}, {}) == read_settings({}, {})


_BAD = [
    ("host", "two\nlines"),
    ("port", "-1"),
    ("port", "65536"),
    ("port", "٣"),
    ("data_dir", "two\nlines"),
    ("data_dir", "not utf-8: \udcff"),
    ("database_url", "sqlite:///two\nlines"),
    ("database_url", "postgre://ana:sesame@host/db"),
    ("database_url", "sqlite:///:memory:"),
    ("mail_url", "smtp://two\nlines"),
    ("public_url", "https://clocks.example.com/#a"),
    ("public_url", "clocks.example.com"),
    ("public_url", "https://clocks.example.com/?a=1"),
    ("public_url", "https://clocks .example.com"),
    ("secret_key", _KEY[1:]),
    ("log_level", "loud"),
    ("log_format", "xml"),
    ("access_log", "yes"),
    ("max_clocks_per_user", "-1"),
    ("max_bytes_per_user", "256M"),
    ("allowed_hosts", "https://clocks.example.com"),
    ("trusted_proxies", "10.0.0.0/33"),
    ("trusted_proxies", "10.0.0.0/7"),
    ("trusted_proxies", "127.0.0.1, ::/15"),
    ("cors_origins", "*"),
    ("cors_origins", "https://app.example.com/"),
    ("resend_seconds", "0"),
    ("resend_seconds", "3601"),
    ("allowed_emails", "team.test"),
    ("allowed_emails", "ana@"),
    ("allowed_emails", "a b@team.test"),
    ("allowed_emails", "*@team.test"),
    ("test_codes", "app.test=12345"),
    ("test_codes", "app.test=123456, app.test=654321"),
    ("test_codes", "example.com.evil.com=123456"),
    ("test_codes", "mail.example.com=123456"),
    ("test_codes", "app.test=١٢٣٤٥٦"),
    ("client_burst", "1.5"),
    ("client_refill", "-1"),
    ("client_refill", "nan"),
]


@pytest.mark.parametrize(("name", "written"), _BAD, ids=[f"{name}={text[:40]!a}" for name, text in _BAD])
def test_invalid_value_is_rejected_in_one_sentence(name: str, written: str) -> None:
    variable = f"TICKOVER_{name.upper()}"
    with pytest.raises(SettingError) as error:
        read_settings({variable: written}, {})
    sentence = str(error.value)
    assert sentence.startswith((f"{variable} must be ", f"{variable} must have "))
    assert sentence.isprintable()
    assert sentence.endswith(".")
    assert "sesame" not in sentence


@pytest.mark.parametrize(
    ("name", "value"), [("secret_key", _KEY), ("database_url", "sqlite:///x.db"), ("mail_url", "smtp://a:b@mail.test")]
)
def test_secret_is_read_from_a_file(tmp_path: Path, name: str, value: str) -> None:
    file, variable = tmp_path / "secret", f"TICKOVER_{name.upper()}"
    for end in ("", "\n", "\r\n"):
        file.write_text(value + end, newline="")
        assert getattr(read_settings({f"{variable}_FILE": str(file)}, {}), name) == value
    assert getattr(read_settings({f"{variable}_FILE": "", variable: value}, {}), name) == value
    with pytest.raises(SettingError, match=rf"^{variable} and {variable}_FILE are both set\. Unset one of them\.$"):
        read_settings({f"{variable}_FILE": str(file), variable: value}, {})


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(None, id="missing"),
        pytest.param(b"", id="empty"),
        pytest.param(b"sesame\nin two lines", id="two lines"),
        pytest.param(b"sesame, not UTF-8: \xff", id="bytes"),
        pytest.param(b"x" * (64 * 1024 + 1), id="too long"),
        pytest.param(b"short", id="invalid value"),
    ],
)
def test_unusable_file_of_a_secret_is_one_error_without_its_content(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "key"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(SettingError, match=r"^TICKOVER_SECRET_KEY(_FILE)? (must|names) .+\.$") as error:
        read_settings({"TICKOVER_SECRET_KEY_FILE": str(file)}, {})
    assert "sesame" not in str(error.value)


def test_pipe_with_a_secret_is_rejected_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "key")
    with pytest.raises(SettingError, match=r"^TICKOVER_SECRET_KEY_FILE must name a file with one line"):
        read_settings({"TICKOVER_SECRET_KEY_FILE": str(tmp_path / "key")}, {})


def test_only_secrets_are_read_from_files(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"TICKOVER_PORT_FILE is not a setting;"):
        read_settings({"TICKOVER_PORT_FILE": str(tmp_path)}, {})


@pytest.mark.parametrize(
    ("url", "has_one"),
    [
        ("postgresql://ana:pw@db.test/t", True),
        ("postgresql://ana@db.test/t?user=ana&password=pw", True),
        ("smtp://ana:pw@mail.test", True),
        ("postgresql://ana@db.test:5432/t?sslmode=require", False),
        ("sqlite:///a@b:c.db", False),
        ("", False),
    ],
)
def test_password_in_a_url_is_found(url: str, has_one: bool) -> None:
    assert has_password(url) is has_one


@pytest.mark.parametrize(
    ("variable", "hint"),
    [
        ("TICKOVER_PROT", "did you mean TICKOVER_PORT?"),
        ("TICKOVER_DATABASE", "did you mean TICKOVER_DATABASE_URL?"),
        ("TICKOVER_SOMETHING_ELSE_ALTOGETHER", "available settings: TICKOVER_HOST, "),
        ("TICKOVER_port", "did you mean"),
    ],
)
def test_unknown_variable_is_rejected_with_a_hint(variable: str, hint: str) -> None:
    with pytest.raises(SettingError) as error:
        read_settings({"PATH": "/bin", variable: "1"}, {})
    assert str(error.value).startswith(f"{variable} is not a setting; ")
    assert hint in str(error.value)


@pytest.mark.parametrize(
    ("settings", "is_default"),
    [
        ({}, True),
        ({"HOST": "::1", "PUBLIC_URL": "https://127.0.0.1/tickover/", "ALLOWED_HOSTS": "localhost,127.0.0.1"}, True),
        ({"HOST": "0.0.0.0"}, False),
        ({"HOST": "localhost.example.com"}, False),
        ({"TRUSTED_PROXIES": "127.0.0.1"}, False),
        ({"PUBLIC_URL": "https://clocks.example.com/tickover/"}, False),
        ({"PUBLIC_URL": "http://10.0.0.1:8000"}, False),
        ({"ALLOWED_HOSTS": "localhost,clocks.example.com"}, False),
    ],
)
def test_outbox_is_the_default_only_if_no_other_machine_reaches_the_server(
    settings: dict[str, str], is_default: bool
) -> None:
    variables = {f"TICKOVER_{name}": value for name, value in settings.items()}
    if is_default:
        assert read_settings(variables, {}).mail_url == "outbox:"
    else:
        with pytest.raises(
            SettingError, match=r"^TICKOVER_MAIL_URL must be set when .+\. Use smtp://… .*outbox: .*\.$"
        ):
            read_settings(variables, {})
    for named in ("outbox:", "smtp://mail.example.com"):
        assert read_settings(variables | {"TICKOVER_MAIL_URL": named}, {}).mail_url == named


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("public_url", "https://ana:my-password@clocks.example.com"),
        ("public_url", "https://clocks.example.com/?key=my-password"),
        ("cors_origins", "https://app.example.com,https://ana:my-password@app.example.com"),
    ],
)
def test_password_in_a_url_that_can_have_none_is_rejected_without_repeating_it(name: str, value: str) -> None:
    with pytest.raises(SettingError, match=f"^TICKOVER_{name.upper()} must be ") as caught:
        read_settings({f"TICKOVER_{name.upper()}": value}, {})
    assert "my-password" not in str(caught.value)
