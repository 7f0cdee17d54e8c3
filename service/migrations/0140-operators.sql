-- People who use the console. `password` is an scrypt hash, and absent until the invitation was accepted.
CREATE TABLE operator_account (
  email text PRIMARY KEY,
  role text NOT NULL,
  invitation text,
  invited_until bigint NOT NULL DEFAULT 0,
  password text,
  -- Sessions name the version that they began with.
  version integer NOT NULL DEFAULT 0,
  enroll_until bigint NOT NULL DEFAULT 0,
  app_enrolled_at bigint,
  created_at bigint NOT NULL,
  signed_in_at bigint,
  disabled_at bigint
);

-- Sessions of the console, by the hash of the session id.
CREATE TABLE console_session (
  id text PRIMARY KEY,
  data text NOT NULL,
  expires_at bigint NOT NULL
);
CREATE INDEX console_session_expiry ON console_session (expires_at);

-- Passwords and codes that were tried at the console, by account and network.
CREATE TABLE console_counter (
  key text PRIMARY KEY,
  count integer NOT NULL,
  ends_at bigint NOT NULL
);
CREATE INDEX console_counter_expiry ON console_counter (ends_at);
