-- To delete old messages of the development inbox.
CREATE INDEX CONCURRENTLY inbox_expiry ON inbox (arrived_at);
