-- On its own, because it reads the whole table. Others can write to the table meanwhile.
ALTER TABLE outbox VALIDATE CONSTRAINT outbox_without_slot;
