"""The tables."""

# mypy: disable-error-code=import-not-found, allow-subclassing-any

from datetime import UTC, datetime
from uuid import UUID, uuid4

from sqlalchemy import (
    DateTime,
    Dialect,
    Double,
    ForeignKey,
    Index,
    LargeBinary,
    String,
    TypeDecorator,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship


class Utc(TypeDecorator[datetime]):
    """Stores times in UTC, because SQLite has no time zones."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.replace(tzinfo=UTC)


class Base(DeclarativeBase):
    """The program creates keys, not the database, so that all rows of a kind fit into one INSERT."""

    # An amount is a JSON number, and a double represents it exactly. Sums are computed in decimal.
    type_annotation_map = {
        datetime: Utc(),
        float: Double(),
        bytes: LargeBinary(),
    }


class User(Base):
    __tablename__ = "users"

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    email: Mapped[str] = mapped_column(String(254), unique=True)
    created_at: Mapped[datetime]


class Token(Base):
    __tablename__ = "tokens"

    digest: Mapped[bytes] = mapped_column(primary_key=True)
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    expires_at: Mapped[datetime]


class Clock(Base):
    __tablename__ = "clocks"

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    frozen_time: Mapped[datetime]
    max_time: Mapped[datetime]
    expires_at: Mapped[datetime]

    transactions: Mapped[list["Transaction"]] = relationship(
        order_by="Transaction.position", cascade="all, delete-orphan", passive_deletes=True, lazy="raise"
    )
    goals: Mapped[list["Goal"]] = relationship(
        order_by="Goal.position", cascade="all, delete-orphan", passive_deletes=True, lazy="raise"
    )


class Transaction(Base):
    __tablename__ = "transactions"
    __table_args__ = (Index("transactions_by_clock", "clock_id", "position"),)

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    clock_id: Mapped[UUID] = mapped_column(ForeignKey("clocks.id", ondelete="CASCADE"))
    position: Mapped[int]
    at: Mapped[datetime]
    name: Mapped[str] = mapped_column(String(120))
    amount: Mapped[float]
    currency: Mapped[str] = mapped_column(String(3))
    type: Mapped[str] = mapped_column(String(7))
    category: Mapped[str | None] = mapped_column(String(80))


class Goal(Base):
    __tablename__ = "goals"

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    clock_id: Mapped[UUID] = mapped_column(ForeignKey("clocks.id", ondelete="CASCADE"), index=True)
    position: Mapped[int]
    name: Mapped[str] = mapped_column(String(120))
    target_amount: Mapped[float]
    initial_amount: Mapped[float]

    contributions: Mapped[list["Contribution"]] = relationship(
        order_by="Contribution.position", cascade="all, delete-orphan", passive_deletes=True, lazy="raise"
    )


class Contribution(Base):
    __tablename__ = "contributions"
    __table_args__ = (Index("contributions_by_goal", "goal_id", "position"),)

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    goal_id: Mapped[UUID] = mapped_column(ForeignKey("goals.id", ondelete="CASCADE"))
    position: Mapped[int]
    at: Mapped[datetime]
    amount: Mapped[float]
