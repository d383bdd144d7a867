-- A schedule is kept as the pieces of its answers, with instants and sums beside them. Clocks are disposable: those kept in
-- the form before cannot be read any more, and are given up.
delete from schedules;
delete from clocks;
