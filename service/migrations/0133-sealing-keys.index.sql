-- To find the keys that authenticator secrets are sealed with, without reading the secrets. Not a partial index: statements that
-- find one secret by its account could be planned to read all of it.
CREATE INDEX CONCURRENTLY app_secret_sealing_key ON app_secret (split_part(sealed, '.', 2));
