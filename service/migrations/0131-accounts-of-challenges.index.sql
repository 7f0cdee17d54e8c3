-- To be the primary key, which begins with the columns by which accounts can be distributed.
CREATE UNIQUE INDEX CONCURRENTLY challenge_key ON challenge (application, account, id);
