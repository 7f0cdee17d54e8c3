-- To list the audit entries of an operator.
CREATE INDEX CONCURRENTLY audit_of_operator ON audit (who, at, position);
