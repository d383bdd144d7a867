"""A public URL with a path behind nginx. Browser tests use its pages and emails."""

import http.client
from pathlib import Path
from urllib.parse import urlsplit

from tests.support.nginx import program_behind_nginx


def test_each_client_has_its_own_rate_limit(tmp_path: Path) -> None:
    limits = {"TICKOVER_CLIENT_BURST": "1", "TICKOVER_CLIENT_REFILL": "0.001"}
    with program_behind_nginx(tmp_path, **limits) as (_, url):

        def status_for(source: str, **headers: str) -> int:
            address = urlsplit(url)
            connection = http.client.HTTPConnection(address.netloc, timeout=120, source_address=(source, 0))
            body = '{"jsonrpc":"2.0","id":1,"method":"loginByEmailLink","params":{"token":"none"}}'
            connection.request("POST", f"{address.path}/rpc", body, {"Content-Type": "application/json", **headers})
            status = connection.getresponse().status
            connection.close()
            return status

        assert [status_for("127.0.0.2"), status_for("127.0.0.3")] == [200, 200]
        claimed = {"X-Forwarded-For": "198.51.100.7"}
        assert [status_for("127.0.0.2"), status_for("127.0.0.2", **claimed)] == [429, 429]
