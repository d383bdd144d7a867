"""What a good team would write first: FastAPI, pydantic and SQLAlchemy's asynchronous ORM.

It is written the way the documentation of these three recommends, with sensible settings and no tricks in either
direction. `bench.checks` passes against it as it does against Tickover, on SQLite and on PostgreSQL.

Where it does less than Tickover, it is the faster for it:

- no login links, no batches, no `logout`, no limits beside the 60 seconds between letters and the tries of a code;
- no sweeping of what has expired, no health checks, no limit on the size of a body, no list of allowed hosts;
- whole amounts are written as `2800.0`, which is the same JSON number;
- null is taken for an optional parameter, and second 60 is refused;
- parameters are checked before the token, so that the database is not held meanwhile;
- of faults between fields, such as a time out of range, the first is named and not every one.

The modules' `mypy:` comments are for an environment without these packages, such as the program's own. Where they are,
everything is checked: .venv/bin/mypy --python-executable .venv-bench/bin/python bench/baselines/default
"""
