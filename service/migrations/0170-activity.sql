-- What an application sent and what its users typed, by method, country and carrier: in steps of five minutes, of an hour when
-- they are two hours old, and of a day when they are two days old. `starts_at` is the beginning of the step. The rows of the
-- application '' are the sums over all applications. There are no contacts and accounts in it.
CREATE TABLE activity (
  application text NOT NULL,
  starts_at bigint NOT NULL,
  method text NOT NULL,
  country text NOT NULL,
  carrier text NOT NULL,
  sent bigint NOT NULL DEFAULT 0,
  codes bigint NOT NULL DEFAULT 0,
  delivered bigint NOT NULL DEFAULT 0,
  failed bigint NOT NULL DEFAULT 0,
  typed bigint NOT NULL DEFAULT 0,
  wrong bigint NOT NULL DEFAULT 0,
  locked bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (application, starts_at, method, country, carrier)
) WITH (fillfactor = 70);
CREATE INDEX activity_past ON activity (starts_at);
CREATE INDEX activity_by_minutes ON activity (starts_at) WHERE starts_at % 3600000 <> 0;
CREATE INDEX activity_by_hours ON activity (starts_at) WHERE starts_at % 86400000 <> 0;

-- The ISO code of the phone's country, so that what happens to the message later is counted there.
ALTER TABLE outbox ADD COLUMN country text;
