-- To settle sets of backup codes whose messages were delivered or given up.
CREATE INDEX CONCURRENTLY backup_set_waiting ON backup_set (waiting_since) WHERE waiting_since IS NOT NULL;
