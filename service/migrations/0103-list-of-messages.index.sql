-- To list those that are not sent.
CREATE INDEX CONCURRENTLY outbox_unsent ON outbox (application, state, created_at) WHERE state <> 'sent';
