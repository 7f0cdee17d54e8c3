-- The messages of a day share a slot, which is a partition from 0105 on. Those of an earlier version, and those that its
-- processes still write, have the slot -1. The constraint spares PostgreSQL to look at them when they become a partition.
ALTER TABLE outbox ADD COLUMN slot smallint NOT NULL DEFAULT -1;
ALTER TABLE outbox ADD CONSTRAINT outbox_without_slot CHECK (slot = -1) NOT VALID;
