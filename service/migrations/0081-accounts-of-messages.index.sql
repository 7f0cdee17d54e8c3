CREATE INDEX CONCURRENTLY outbox_of_account ON outbox (application, account) WHERE account IS NOT NULL;
