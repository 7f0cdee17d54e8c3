-- The account that a message is for, so that its messages can be listed and erased. Those of an earlier version have none, and
-- are deleted within a week.
ALTER TABLE outbox ADD COLUMN account text;
