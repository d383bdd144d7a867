-- name, labels: the caller's own. labels is a JSON object. Both are null for most clocks.
alter table clocks add column name text;
alter table clocks add column labels text;
