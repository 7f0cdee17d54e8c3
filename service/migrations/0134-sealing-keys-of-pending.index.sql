-- The same for secrets that are not confirmed yet.
CREATE INDEX CONCURRENTLY app_secret_pending_key ON app_secret (split_part(pending, '.', 2));
