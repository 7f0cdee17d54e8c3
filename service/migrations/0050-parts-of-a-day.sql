-- An application's day is counted in several rows: one row is held by each send until it is committed, and all others wait.
ALTER TABLE daily_budget ADD COLUMN part integer NOT NULL DEFAULT 0;
ALTER TABLE daily_budget DROP CONSTRAINT daily_budget_pkey;
ALTER TABLE daily_budget ADD PRIMARY KEY (application, day, part);
