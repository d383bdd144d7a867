-- A code that isn't mailed neither waits for the interval since the last email nor delays the next one.

-- Record an email, unless earlier emails make it too soon. Then return the time of the email that delays it, and whether
-- that is the last one.
create function claim_send_v2(
  the_digest bytea, the_email text, the_kind text, is_mailed boolean, the_sent_at bigint, the_expires_at bigint,
  the_network bytea, interval_start bigint, hour_start bigint, out_of_order bigint, max_sends bigint,
  max_sends_from_network bigint, max_failures bigint,
  out held_since bigint, out by_last_email boolean, out codes_stopped boolean
) language plpgsql as $$
begin
  perform take_turn_for_address(the_email);
  if is_mailed then
    -- The last email that holds its slot delays the next one, whatever the timestamps of earlier emails.
    select last.sent_at into held_since
      from (
        select s.sent_at from login_sends s where s.email = the_email and s.holds_slot order by s.number desc limit 1
      ) as last
      where last.sent_at > interval_start and last.sent_at < out_of_order;
  end if;
  by_last_email := held_since is not null;
  if held_since is null then
    -- If both limits are reached, the later one decides.
    held_since := greatest(
      case when max_sends > 0 then nth_newest_send(the_email, max_sends, hour_start, out_of_order, null, false) end,
      case when max_sends_from_network > 0 then
        nth_newest_send(the_email, max_sends_from_network, hour_start, out_of_order, the_network, false)
      end
    );
  end if;
  if held_since is null then
    -- Fixed codes of one instant have the same digest.
    insert into login_sends (digest, email, kind, sent_at, expires_at, network, holds_slot)
      values (the_digest, the_email, the_kind, the_sent_at, the_expires_at, the_network, is_mailed)
      on conflict (digest) do nothing;
    codes_stopped := exists (select from login_failures f where f.email = the_email and f.count >= max_failures);
  end if;
end
$$;
