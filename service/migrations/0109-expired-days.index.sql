-- To delete the counts of past days.
CREATE INDEX CONCURRENTLY daily_budget_expiry ON daily_budget (day);
