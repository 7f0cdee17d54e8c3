-- All that decides about a verification and is not the code's own lies in the account's row, so that one statement
-- which holds that row sees the latest of it: a statement's snapshot of other rows is older than its locks.

-- The wrong codes of the last day that nothing has forgiven: [{ at, factor, scope }]. What succeeds in the same
-- scope, a challenge or a transaction of the caller, forgives them.
ALTER TABLE account ADD COLUMN failures jsonb NOT NULL DEFAULT '[]';
UPDATE account SET failures = counted.failures FROM (
  SELECT application, account, jsonb_agg(jsonb_build_object(
    'at', at, 'factor', factor, 'scope', 'challenge:' || challenge) ORDER BY at) AS failures
  FROM failure GROUP BY application, account
) AS counted WHERE counted.application = account.application AND counted.account = account.account;
DROP TABLE failure;

-- What is compared with a typed code: a keyed hash, so that comparing and counting are one step. Challenges of an
-- earlier version live ten minutes at most; they end here rather than stay without one.
-- `transaction` is the caller's name of what the code is for, or nothing.
DELETE FROM challenge;
ALTER TABLE challenge ADD COLUMN code_mac text NOT NULL;
ALTER TABLE challenge ADD COLUMN transaction text NOT NULL DEFAULT '';

-- One row for each thing a code can be for: a new challenge takes the place of the one before, whoever comes first.
DROP INDEX challenge_living;
CREATE UNIQUE INDEX challenge_place
  ON challenge (application, account, contact, type, method, purpose, transaction);

-- Rows that every wrong or right code changes find room for the new version on the same page.
ALTER TABLE account SET (fillfactor = 70);
ALTER TABLE challenge SET (fillfactor = 70);
ALTER TABLE app_secret SET (fillfactor = 70);

-- New backup codes wait beside the living set until their messages were handed over: one set lives, always.
ALTER TABLE backup_set
  ALTER COLUMN contact DROP NOT NULL, ALTER COLUMN salt DROP NOT NULL, ALTER COLUMN made_at DROP NOT NULL,
  ADD COLUMN waiting_contact text, ADD COLUMN waiting_salt text, ADD COLUMN waiting_since bigint,
  ADD COLUMN waiting_letters text[];
ALTER TABLE backup_code ADD COLUMN salt text;
UPDATE backup_code SET salt = backup_set.salt FROM backup_set
WHERE backup_set.application = backup_code.application AND backup_set.account = backup_code.account;
ALTER TABLE backup_code ALTER COLUMN salt SET NOT NULL;
