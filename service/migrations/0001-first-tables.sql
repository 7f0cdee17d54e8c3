-- Times are milliseconds since 1970 from the service's clock; SQL never reads the database's clock.

CREATE TABLE sealing_key (
  key_id text PRIMARY KEY
);

CREATE TABLE account (
  application text NOT NULL,
  account text NOT NULL,
  locked_at bigint NOT NULL DEFAULT 0,
  locked_until bigint NOT NULL DEFAULT 0,
  lock_level integer NOT NULL DEFAULT 0,
  proven_email text,
  proven_phone text,
  locale text,
  PRIMARY KEY (application, account)
);

-- One row for each unforgiven wrong code of the last day.
CREATE TABLE failure (
  application text NOT NULL,
  account text NOT NULL,
  factor text NOT NULL,
  challenge text,
  at bigint NOT NULL
);
CREATE INDEX failure_of_account ON failure (application, account, at);

-- The number of wrong codes since a factor was bound.
CREATE TABLE factor (
  application text NOT NULL,
  account text NOT NULL,
  factor text NOT NULL,
  failures integer NOT NULL DEFAULT 0,
  PRIMARY KEY (application, account, factor)
);

-- The code is not stored: it is derived from a key outside the database and the row's identity.
CREATE TABLE challenge (
  application text NOT NULL,
  id text NOT NULL,
  account text NOT NULL,
  contact text NOT NULL,
  type text NOT NULL,
  method text NOT NULL,
  purpose text NOT NULL,
  digits integer NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  max_attempts integer NOT NULL,
  sends integer NOT NULL DEFAULT 1,
  resend_at bigint NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  ended_at bigint,
  PRIMARY KEY (application, id)
);
CREATE INDEX challenge_living ON challenge (application, account, contact, type) WHERE ended_at IS NULL;

CREATE TABLE app_secret (
  application text NOT NULL,
  account text NOT NULL,
  sealed text,
  last_step bigint NOT NULL DEFAULT -1,
  bound_at bigint,
  pending text,
  PRIMARY KEY (application, account)
);

CREATE TABLE backup_set (
  application text NOT NULL,
  account text NOT NULL,
  contact text NOT NULL,
  salt text NOT NULL,
  made_at bigint NOT NULL,
  PRIMARY KEY (application, account)
);

CREATE TABLE backup_code (
  application text NOT NULL,
  account text NOT NULL,
  mac text NOT NULL,
  PRIMARY KEY (application, account, mac)
);

-- The times of the latest messages of an account, to a destination or for a client address.
CREATE TABLE budget (
  application text NOT NULL,
  scope text NOT NULL,
  key text NOT NULL,
  times bigint[] NOT NULL,
  PRIMARY KEY (application, scope, key)
);

CREATE TABLE daily_budget (
  application text NOT NULL,
  day integer NOT NULL,
  messages integer NOT NULL,
  PRIMARY KEY (application, day)
);

-- `sealed` is the encrypted message; NULL after it was delivered or given up.
CREATE TABLE outbox (
  application text NOT NULL,
  id text NOT NULL,
  channel text NOT NULL,
  state text NOT NULL,
  sealed text,
  attempts integer NOT NULL DEFAULT 0,
  due_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  created_at bigint NOT NULL,
  settled_at bigint,
  PRIMARY KEY (application, id)
);
CREATE INDEX outbox_waiting ON outbox (due_at) WHERE state = 'waiting';

-- The development inbox.
CREATE TABLE inbox (
  position bigserial PRIMARY KEY,
  application text NOT NULL,
  recipient text NOT NULL,
  sealed text NOT NULL
);
