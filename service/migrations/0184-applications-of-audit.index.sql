-- To list the audit entries of an application in a time.
CREATE INDEX CONCURRENTLY audit_of_application_by_time ON audit (application, at, position);
