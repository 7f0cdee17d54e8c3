-- To delete the messages of an earlier version, which have no slot to be emptied with.
CREATE INDEX CONCURRENTLY outbox_settled ON outbox (settled_at);
