-- A schedule is kept as what was asked for, and no longer as the text of its answers. Clocks are disposable: those kept in
-- the form before cannot be read any more, and are given up.
delete from schedules;
delete from clocks;
