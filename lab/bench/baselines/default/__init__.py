"""A conventional program for the same operations: FastAPI, pydantic and SQLAlchemy's asynchronous ORM.

It follows the documentation of these three, with sensible settings and without special optimizations. Before it
is timed, its responses are compared with those of Tickover.

It does less than Tickover, which makes it faster:

- no sign-in, no batches, and no limits of a user or client;
- no sweep of expired data, no health checks, no limit on the size of a body, no list of allowed hosts;
- whole amounts are written as `2800.0`, which is the same JSON number;
- null is accepted for an optional parameter, and second 60 is rejected;
- parameters are checked before the token, so that no database connection is held meanwhile;
- of faults between fields, such as a time out of range, only the first is reported.

The `mypy:` comments of the modules are for environments without these packages, such as the program's own. To check
everything: .venv/bin/mypy --python-executable .venv-bench/bin/python lab/bench/baselines/default
"""
