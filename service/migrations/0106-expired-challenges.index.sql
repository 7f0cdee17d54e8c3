-- To delete expired challenges.
CREATE INDEX CONCURRENTLY challenge_expiry ON challenge (expires_at);
