-- One row for each Idempotency-Key of the last day. `key` and `request` are keyed hashes; `answer` is the response, which
-- contains neither code nor contact. Without an answer, the request that wrote `claim` is in progress.
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
