-- The audit entries that may show the name of an account, which an erasure replaces.
CREATE INDEX CONCURRENTLY audit_named ON audit (application, position) WHERE action IN ('user.unlocked', 'factor.disabled');
