-- When a message arrived, so that old ones can be deleted; those without a time are deleted first.
ALTER TABLE inbox ADD COLUMN arrived_at bigint NOT NULL DEFAULT 0;
