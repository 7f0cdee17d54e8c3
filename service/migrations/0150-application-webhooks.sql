-- The webhook to which an application's own messages of some channels are delivered, instead of to the carriers of the service.
-- The secret that signs its requests is sealed; a former one signs them too, until its time is over.
CREATE TABLE application_webhook (
  application text PRIMARY KEY REFERENCES application,
  url text NOT NULL,
  channels text[] NOT NULL,
  sealed text NOT NULL,
  former text,
  former_until bigint,
  changed_at bigint NOT NULL
);
