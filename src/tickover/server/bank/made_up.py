"""Account numbers and owners that no bank gave out. The same account, a text that identifies it, has the same ones."""

from hashlib import sha256
from typing import Final

ROUTING_NUMBER: Final = "129999995"
BIC: Final = "TICKFIHH"
_BANK: Final = "790000"
_FIRST_NAMES: Final = "Alex", "Charlie", "Jamie", "Kim", "Noa", "Robin", "Sam", "Toni"
_LAST_NAMES: Final = "Berg", "Carter", "Lindqvist", "Moreau", "Novak", "Okoye", "Rossi", "Weber"
_STREETS: Final = "Clock Lane", "Harbour Road", "Mill Street", "Station Road"


def mask(account: str) -> str:
    """Return the last four digits of the account's number."""
    return _digits(account, 4)


def account_number(account: str, size: int) -> str:
    return _digits(f"number {account}", size - 4) + mask(account)


def sort_code(account: str) -> str:
    return _digits(f"branch {account}", 6)


def iban(account: str) -> str:
    """Return a Finnish IBAN, whose two check digits are right."""
    start, end = _BANK + _digits(f"iban {account}", 3), mask(account)
    [number] = [each for digit in range(10) if _luhn_sum(each := f"{start}{digit}{end}") % 10 == 0]
    # F is 15, and I is 18.
    return f"FI{98 - int(number + '151800') % 97:02}{number}"


class Owner:
    """The person who owns the accounts of a clock."""

    def __init__(self, clock_key: bytes) -> None:
        seed = sha256(b"owner %b" % clock_key).digest()
        first, last = _FIRST_NAMES[seed[0] % len(_FIRST_NAMES)], _LAST_NAMES[seed[1] % len(_LAST_NAMES)]
        self.name = f"{first} {last}"
        self.email = f"{first}.{last}@example.com".lower()
        # These numbers are kept free for examples.
        self.phone = f"+1 202 555 01{seed[2] % 100:02}"
        self.street = f"{seed[3] % 99 + 1} {_STREETS[seed[4] % len(_STREETS)]}"


def _digits(seed: str, size: int) -> str:
    return f"{int.from_bytes(sha256(seed.encode()).digest()) % 10**size:0{size}}"


def _luhn_sum(number: str) -> int:
    digits = [int(digit) for digit in reversed(number)]
    return sum(digits[::2]) + sum(sum(divmod(2 * digit, 10)) for digit in digits[1::2])
