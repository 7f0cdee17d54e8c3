-- To find the keys that authenticator secrets are sealed with, without reading the secrets.
CREATE INDEX CONCURRENTLY app_secret_sealed_with ON app_secret (split_part(sealed, '.', 2)) WHERE sealed IS NOT NULL;
