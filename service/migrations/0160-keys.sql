-- Security keys and passkeys (WebAuthn).

-- The random id of an account that its keys store, in base64url. It says nothing about the account.
CREATE TABLE key_user (
  application text NOT NULL,
  account text NOT NULL,
  handle text NOT NULL,
  PRIMARY KEY (application, account)
);

-- `id` is the credential id, `public_key` its COSE key, both in base64url. `counter` is the highest signature counter that was
-- accepted; it stays 0 for keys that do not count.
CREATE TABLE account_key (
  application text NOT NULL,
  account text NOT NULL,
  id text NOT NULL,
  method text NOT NULL,
  name text NOT NULL,
  public_key text NOT NULL,
  counter bigint NOT NULL,
  backup_eligible boolean NOT NULL,
  backed_up boolean NOT NULL,
  transports text[] NOT NULL,
  aaguid text NOT NULL,
  created_at bigint NOT NULL,
  last_used_at bigint,
  PRIMARY KEY (application, account, id)
) WITH (fillfactor = 70);

-- A key belongs to one account of an application.
CREATE UNIQUE INDEX account_key_of_application ON account_key (application, id);

-- `hash` is the SHA-256 of the challenge, in base64url.
CREATE TABLE key_challenge (
  application text NOT NULL,
  account text NOT NULL,
  hash text NOT NULL,
  method text NOT NULL,
  purpose text NOT NULL,
  transaction text NOT NULL,
  expires_at bigint NOT NULL,
  PRIMARY KEY (application, account, hash)
);

-- To delete expired challenges.
CREATE INDEX key_challenge_expiry ON key_challenge (expires_at);
