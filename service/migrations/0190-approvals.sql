-- Changes to users' factors that one operator asked for and another has to approve. A row is deleted when it is approved or refused,
-- so that it is used once. `target` is the factor or the id of the key.
CREATE TABLE approval_request (
  application text NOT NULL,
  id text NOT NULL,
  account text NOT NULL,
  action text NOT NULL,
  target text NOT NULL,
  asked_by text NOT NULL,
  asked_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  PRIMARY KEY (application, id)
);
CREATE INDEX approval_request_expiry ON approval_request (expires_at);
