-- The state of each message: queued, sent, refused (by a carrier, for good) or expired (no time or attempts left).
-- `masked` is the recipient as it may be shown; `fault` is why the last attempt failed.

DROP INDEX outbox_waiting;
UPDATE outbox SET state = 'queued' WHERE state = 'waiting';
UPDATE outbox SET state = 'refused' WHERE state = 'failed';
ALTER TABLE outbox ADD COLUMN challenge text;
ALTER TABLE outbox ADD COLUMN masked text NOT NULL DEFAULT '';
ALTER TABLE outbox ADD COLUMN carrier text;
ALTER TABLE outbox ADD COLUMN carrier_id text;
ALTER TABLE outbox ADD COLUMN fault text;
ALTER TABLE outbox ADD COLUMN updated_at bigint NOT NULL DEFAULT 0;
UPDATE outbox SET updated_at = coalesce(settled_at, created_at);
CREATE INDEX outbox_queued ON outbox (due_at) WHERE state = 'queued';
CREATE INDEX outbox_of_challenge ON outbox (application, challenge) WHERE challenge IS NOT NULL;
