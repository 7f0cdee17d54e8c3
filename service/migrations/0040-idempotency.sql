-- One row for each Idempotency-Key of the last day. `key` and `request` are keyed hashes; `answer` is what was
-- answered, and holds neither code nor contact. Without an answer the request is being worked on by `claim`.
CREATE TABLE idempotent_request (
  application text NOT NULL,
  key text NOT NULL,
  request text NOT NULL,
  claim text NOT NULL,
  claimed_until bigint NOT NULL,
  expires_at bigint NOT NULL,
  answer text,
  PRIMARY KEY (application, key)
);
CREATE INDEX idempotent_request_expiry ON idempotent_request (expires_at);
