-- When each factor of an account was last used, to the hour: { "APP": 1764000000000, "PHONE:+447700900123": … }, in
-- milliseconds since 1970.
ALTER TABLE account ADD COLUMN used jsonb NOT NULL DEFAULT '{}';
