-- To list the audit entries of a time.
CREATE INDEX CONCURRENTLY audit_by_time ON audit (at, position);
