-- To list the latest messages of an application.
CREATE INDEX CONCURRENTLY outbox_listed ON outbox (application, created_at);
