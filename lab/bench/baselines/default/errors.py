"""Errors that a caller can act on, with their JSON-RPC codes and HTTP statuses."""

from enum import Enum
from typing import Any


class Reason(Enum):
    """The stable name of an error, its JSON-RPC code and its HTTP status."""

    PARSE_ERROR = (-32700, 400)
    INVALID_REQUEST = (-32600, 400)
    METHOD_NOT_FOUND = (-32601, 200)
    INVALID_PARAMS = (-32602, 200)
    INTERNAL = (-32603, 500)
    UNAUTHENTICATED = (-32001, 401)
    CLOCK_NOT_FOUND = (-32004, 200)
    CLOCK_EXPIRED = (-32010, 200)
    TIME_BEFORE_CURRENT = (-32011, 200)
    TIME_AFTER_MAX = (-32012, 200)

    def __init__(self, code: int, status: int) -> None:
        self.code = code
        self.status = status


class RpcError(Exception):
    """A call failed. `data` contains the details besides the reason."""

    def __init__(self, reason: Reason, message: str, **data: Any) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.data = data

    def body(self, id: Any) -> dict[str, Any]:
        data = {"reason": self.reason.name, **self.data}
        return {"jsonrpc": "2.0", "error": {"code": self.reason.code, "message": self.message, "data": data}, "id": id}

    def headers(self) -> dict[str, str]:
        return {"WWW-Authenticate": "Bearer"} if self.reason is Reason.UNAUTHENTICATED else {}
