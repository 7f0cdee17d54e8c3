-- To delete budgets that are no longer needed.
CREATE INDEX CONCURRENTLY budget_expiry ON budget (last_hour);
