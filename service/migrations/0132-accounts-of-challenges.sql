-- The primary key of every table with accounts begins with application and account, by which they can be distributed. The index
-- exists, so this takes a moment.
ALTER TABLE challenge DROP CONSTRAINT challenge_pkey, ADD CONSTRAINT challenge_pkey PRIMARY KEY USING INDEX challenge_key;
