-- To list the audit entries of an action.
CREATE INDEX CONCURRENTLY audit_of_action ON audit (action, at, position);
