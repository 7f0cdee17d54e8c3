-- The endpoints to which events of an application are posted, such as `user.locked`. The secret that signs the requests is sealed;
-- a former one signs them too, until its time is over. A paused endpoint keeps its events until it is resumed; one that failed for
-- days is disabled, and gets no new ones.
CREATE TABLE event_endpoint (
  application text NOT NULL REFERENCES application,
  id text NOT NULL,
  url text NOT NULL,
  types text[] NOT NULL,
  sealed text NOT NULL,
  former text,
  former_until bigint,
  created_at bigint NOT NULL,
  paused_at bigint,
  -- Since when every attempt failed.
  failing_since bigint,
  disabled_at bigint,
  PRIMARY KEY (application, id)
);

-- One row for each event and endpoint: queued, delivered or failed (given up). `status` and `answer` are those of the last attempt.
CREATE TABLE event_delivery (
  application text NOT NULL,
  endpoint text NOT NULL,
  id text NOT NULL,
  type text NOT NULL,
  account text,
  data jsonb NOT NULL,
  created_at bigint NOT NULL,
  state text NOT NULL DEFAULT 'queued',
  due_at bigint NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  attempted_at bigint,
  status smallint,
  answer text,
  PRIMARY KEY (application, endpoint, id)
);
CREATE INDEX event_delivery_due ON event_delivery (application, endpoint, due_at) WHERE state = 'queued';
CREATE INDEX event_delivery_listed ON event_delivery (application, endpoint, created_at);
CREATE INDEX event_delivery_of_account ON event_delivery (application, account) WHERE account IS NOT NULL;
CREATE INDEX event_delivery_expiry ON event_delivery (created_at);
