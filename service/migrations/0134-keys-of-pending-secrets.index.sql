-- To find the keys that secrets which are not confirmed yet are sealed with.
CREATE INDEX CONCURRENTLY app_secret_pending_with ON app_secret (split_part(pending, '.', 2)) WHERE pending IS NOT NULL;
