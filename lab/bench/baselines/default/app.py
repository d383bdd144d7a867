"""The FastAPI application: one endpoint, its operations and its error responses."""

# mypy: disable-error-code=import-not-found, allow-untyped-decorators, no-warn-return-any

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import ValidationError
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from lab.bench.baselines.default.clocks import advance_clock, create_clock, view
from lab.bench.baselines.default.database import make_engine
from lab.bench.baselines.default.errors import Reason, RpcError
from lab.bench.baselines.default.models import Base
from lab.bench.baselines.default.schemas import AdvanceClock, ClockResult, CreateClock, Params, RpcCall, RpcResult
from lab.bench.baselines.default.users import add_users, authenticate

AnyParams = TypeVar("AnyParams", bound=Params)
Bearer = Annotated[HTTPAuthorizationCredentials | None, Depends(HTTPBearer(auto_error=False))]


@dataclass(frozen=True)
class Services:
    """The operations. Each is one transaction, committed before the response."""

    sessions: async_sessionmaker[AsyncSession]

    async def create_test_clock(self, token: str, raw_params: dict[str, Any]) -> ClockResult:
        params = _read(CreateClock, raw_params)
        async with self.sessions.begin() as session:
            user_id = await authenticate(session, token)
            clock = create_clock(session, user_id, params)
        return ClockResult(clock=view(clock))

    async def advance_test_clock(self, token: str, raw_params: dict[str, Any]) -> ClockResult:
        params = _read(AdvanceClock, raw_params)
        async with self.sessions.begin() as session:
            user_id = await authenticate(session, token)
            clock = await advance_clock(session, user_id, params)
        return ClockResult(clock=view(clock))


_OPERATIONS: dict[str, Callable[[Services, str, dict[str, Any]], Awaitable[ClockResult]]] = {
    "createTestClock": Services.create_test_clock,
    "advanceTestClock": Services.advance_test_clock,
}


async def _services(request: Request) -> Services:
    # Asynchronous, because FastAPI would otherwise run it in a thread.
    services: Services = request.app.state.services
    return services


router = APIRouter()


@router.post("/rpc", response_model=RpcResult)
async def rpc(call: RpcCall, bearer: Bearer, services: Annotated[Services, Depends(_services)]) -> RpcResult | Response:
    is_notification = "id" not in call.model_fields_set
    try:
        operation = _OPERATIONS.get(call.method)
        if operation is None:
            raise RpcError(Reason.METHOD_NOT_FOUND, f"Known methods are {', '.join(_OPERATIONS)}.")
        result = await operation(services, bearer.credentials if bearer else "", call.params)
    except RpcError as error:
        return Response(status_code=204) if is_notification else _error_response(error, call.id)
    return Response(status_code=204) if is_notification else RpcResult(result=result, id=call.id)


def create_app(database: str, tokens: Sequence[str]) -> FastAPI:
    engine = make_engine(database)
    sessions = async_sessionmaker(engine, expire_on_commit=False)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        async with engine.begin() as connection:
            await connection.run_sync(Base.metadata.create_all)
        async with sessions.begin() as session:
            await add_users(session, tokens)
        yield
        await engine.dispose()

    app = FastAPI(title="Clocks", lifespan=lifespan)
    app.state.services = Services(sessions)
    app.include_router(router)
    app.add_exception_handler(RequestValidationError, _respond_to_invalid_request)
    app.add_exception_handler(Exception, _respond_to_invalid_params)
    return app


async def _respond_to_invalid_request(_request: Request, error: Exception) -> JSONResponse:
    """The body is not JSON, or not a JSON-RPC call."""
    assert isinstance(error, RequestValidationError)
    if any(fault["type"] == "json_invalid" for fault in error.errors()):
        return _error_response(RpcError(Reason.PARSE_ERROR, "The body is not JSON."), None)
    id = error.body.get("id") if isinstance(error.body, dict) else None
    known_id = id if isinstance(id, str | int | float) and not isinstance(id, bool) else None
    return _error_response(RpcError(Reason.INVALID_REQUEST, "This is not a JSON-RPC 2.0 request."), known_id)


async def _respond_to_invalid_params(_request: Request, _error: Exception) -> JSONResponse:
    return _error_response(RpcError(Reason.INTERNAL, "Something went wrong here."), None)


def _error_response(error: RpcError, id: Any) -> JSONResponse:
    return JSONResponse(error.body(id), error.reason.status, error.headers())


def _read(model: type[AnyParams], raw_params: dict[str, Any]) -> AnyParams:
    try:
        return model.model_validate(raw_params)
    except ValidationError as error:
        faults = [
            {"path": _path(fault["loc"]), "rule": fault["type"], "message": fault["msg"]}
            for fault in error.errors(include_url=False, include_context=False, include_input=False)
        ]
        message = f"{len(faults)} parameters are invalid."
        raise RpcError(Reason.INVALID_PARAMS, message, errors=faults) from None


def _path(location: tuple[int | str, ...]) -> str:
    """Return a path such as transactions[3].amount."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)
    return "".join(parts).removeprefix(".")
