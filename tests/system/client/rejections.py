"""Calls that the server rejects."""

import pytest

from tickover.client import Reason, Rejection


def rejected(reason: Reason) -> pytest.RaisesExc[Rejection]:
    return pytest.raises(Rejection, check=lambda rejection: rejection.reason is reason)
