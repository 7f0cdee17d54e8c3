-- The hour of the latest message, so that an index finds budgets that are no longer needed. It changes once an hour: an index on
-- the times themselves would change with every message. 0 in the rows of an earlier version.
ALTER TABLE budget ADD COLUMN last_hour integer NOT NULL DEFAULT 0;
