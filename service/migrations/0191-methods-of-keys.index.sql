-- To count the accounts whose keys cannot be used, a kind of key at a time, without reading the keys of all others.
CREATE INDEX CONCURRENTLY account_key_of_method ON account_key (application, method, account);
