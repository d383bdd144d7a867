"""The rules of storage, once for both databases: quotas, idempotency, conflicts, limits on emails and attempts."""
