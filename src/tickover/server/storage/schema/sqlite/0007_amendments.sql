-- revision: the number of amendments. Each replaces the clock's schedule.
alter table clocks add column revision integer not null default 0;
