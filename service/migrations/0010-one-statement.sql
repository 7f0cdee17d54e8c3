-- Everything that decides about a verification, apart from the code, is in the account's row, so that a statement that
-- locks this row sees its latest version: the statement's snapshot of other rows is older than its locks.

-- The unforgiven wrong codes of the last day: [{ at, factor, scope }]. A valid code in the same scope (a challenge or a
-- transaction of the caller) forgives them.
ALTER TABLE account ADD COLUMN failures jsonb NOT NULL DEFAULT '[]';
UPDATE account SET failures = counted.failures FROM (
  SELECT application, account, jsonb_agg(jsonb_build_object(
    'at', at, 'factor', factor, 'scope', 'challenge:' || challenge) ORDER BY at) AS failures
  FROM failure GROUP BY application, account
) AS counted WHERE counted.application = account.application AND counted.account = account.account;
DROP TABLE failure;

-- `code_mac` is a keyed hash that is compared with a typed code, so that one step compares and counts. Challenges of an
-- earlier version have none and are deleted; they would live ten minutes at most.
-- `transaction` is the caller's name for what the code is for, or empty.
DELETE FROM challenge;
ALTER TABLE challenge ADD COLUMN code_mac text NOT NULL;
ALTER TABLE challenge ADD COLUMN transaction text NOT NULL DEFAULT '';

-- One row for each purpose of a code: a new challenge replaces the one before, also with concurrent requests.
DROP INDEX challenge_living;
CREATE UNIQUE INDEX challenge_place
  ON challenge (application, account, contact, type, method, purpose, transaction);

-- Rows that every verification changes leave space for the new version on the same page.
ALTER TABLE account SET (fillfactor = 70);
ALTER TABLE challenge SET (fillfactor = 70);
ALTER TABLE app_secret SET (fillfactor = 70);

-- New backup codes wait beside the active set until their messages were handed over: exactly one set is active.
-- `waiting_letters` are the ids of these messages.
ALTER TABLE backup_set
  ALTER COLUMN contact DROP NOT NULL, ALTER COLUMN salt DROP NOT NULL, ALTER COLUMN made_at DROP NOT NULL,
  ADD COLUMN waiting_contact text, ADD COLUMN waiting_salt text, ADD COLUMN waiting_since bigint,
  ADD COLUMN waiting_letters text[];
ALTER TABLE backup_code ADD COLUMN salt text;
UPDATE backup_code SET salt = backup_set.salt FROM backup_set
WHERE backup_set.application = backup_code.application AND backup_set.account = backup_code.account;
ALTER TABLE backup_code ALTER COLUMN salt SET NOT NULL;
