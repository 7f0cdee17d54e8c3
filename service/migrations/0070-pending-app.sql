-- When a pending authenticator secret was made, so that it expires. One without a time has expired: those that exist now may
-- be old, and their users start again.
ALTER TABLE app_secret ADD COLUMN pending_since bigint;
