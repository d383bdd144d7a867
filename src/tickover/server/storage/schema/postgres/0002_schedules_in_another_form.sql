-- Schedules are now stored as fragments of responses, with timestamps and totals. The old form is no longer readable.
-- Clocks are disposable, so delete them.
truncate schedules, clocks;
