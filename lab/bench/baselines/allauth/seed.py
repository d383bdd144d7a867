"""Creates the tables and the accounts, because allauth lets only existing accounts sign in by code.

Usage: python -m lab.bench.baselines.allauth.seed ADDRESS_FORMAT COUNT
"""
# mypy: disable-error-code="import-not-found"
# Django is installed into a separate environment.

import sys

import django


def seed(address_format: str, how_many: int) -> None:
    # Django must be set up before models are imported.
    from allauth.account.models import EmailAddress  # noqa: PLC0415
    from django.contrib.auth.hashers import make_password  # noqa: PLC0415
    from django.contrib.auth.models import User  # noqa: PLC0415
    from django.core.management import call_command  # noqa: PLC0415

    call_command("migrate", verbosity=0)
    addresses = [address_format.format(number) for number in range(how_many)]
    users = [User(username=address, email=address, password=make_password(None)) for address in addresses]
    User.objects.bulk_create(users)
    EmailAddress.objects.bulk_create(
        EmailAddress(user=user, email=user.email, primary=True, verified=True) for user in users
    )


if __name__ == "__main__":
    django.setup()
    seed(sys.argv[1], int(sys.argv[2]))
