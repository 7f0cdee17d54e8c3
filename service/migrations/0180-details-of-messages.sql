-- `recipient`: a keyed hash of the mailbox or phone, where the account is not named after it. `detail`: what the carrier says about
-- the last attempt, or in its report. `price`: what the carrier says that the message costs, with the currency if it names one.
ALTER TABLE outbox ADD COLUMN recipient text, ADD COLUMN detail text, ADD COLUMN price text;
