-- Messages are kept in twelve partitions, one for each day in turn. A partition whose messages are a week old is truncated:
-- that costs the same for one message and for a hundred million. No partition has to be created or dropped later, so the
-- service needs no right to do so, and works if nothing was deleted for a while.
-- The existing table becomes the partition of messages without a slot, into which an earlier version still writes.
ALTER TABLE outbox RENAME TO outbox_without_slot;
ALTER INDEX outbox_queued RENAME TO outbox_without_slot_queued;
ALTER INDEX outbox_of_challenge RENAME TO outbox_without_slot_of_challenge;
ALTER INDEX outbox_of_account RENAME TO outbox_without_slot_of_account;
ALTER INDEX outbox_listed RENAME TO outbox_without_slot_listed;
ALTER INDEX outbox_unsent RENAME TO outbox_without_slot_unsent;

CREATE TABLE outbox (LIKE outbox_without_slot INCLUDING DEFAULTS) PARTITION BY LIST (slot);
CREATE INDEX outbox_queued ON outbox (due_at) WHERE state = 'queued';
CREATE INDEX outbox_of_challenge ON outbox (application, challenge) WHERE challenge IS NOT NULL;
CREATE INDEX outbox_of_account ON outbox (application, account) WHERE account IS NOT NULL;
CREATE INDEX outbox_listed ON outbox (application, created_at);
CREATE INDEX outbox_unsent ON outbox (application, state, created_at) WHERE state <> 'sent';
-- Finds indexes of the same definition and takes them over.
ALTER TABLE outbox ATTACH PARTITION outbox_without_slot FOR VALUES IN (-1);

DO $$
DECLARE
  permission record;
BEGIN
  FOR slot IN 0..11 LOOP
    EXECUTE format('CREATE TABLE outbox_%s PARTITION OF outbox (PRIMARY KEY (application, id, account)) FOR VALUES IN (%s)',
      slot, slot);
  END LOOP;
  -- Roles that use the former table can use the new one at once, for processes of an earlier version go on.
  FOR permission IN
    SELECT privilege_type AS privilege, grantee::regrole::text AS role FROM pg_class, aclexplode(relacl)
    WHERE oid = 'outbox_without_slot'::regclass AND grantee <> relowner AND grantee <> 0
  LOOP
    EXECUTE format('GRANT %s ON outbox TO %s', permission.privilege, permission.role);
  END LOOP;
END $$;
