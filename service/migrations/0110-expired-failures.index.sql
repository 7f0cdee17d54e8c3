-- To forget failures of more than a day ago. Most accounts have none.
CREATE INDEX CONCURRENTLY account_failures ON account (((failures -> -1 ->> 'at')::bigint)) WHERE failures <> '[]';
