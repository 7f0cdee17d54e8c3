-- An application's day is counted in several rows: a single row, which each send locks until it is committed, would make
-- all other sends wait.
ALTER TABLE daily_budget ADD COLUMN part integer NOT NULL DEFAULT 0;
ALTER TABLE daily_budget DROP CONSTRAINT daily_budget_pkey;
ALTER TABLE daily_budget ADD PRIMARY KEY (application, day, part);
