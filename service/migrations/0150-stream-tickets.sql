-- One row for each unused ticket of a transcription stream, which is valid for a minute. `hash` is the SHA-256 of the ticket.
CREATE TABLE stream_ticket (
  hash text PRIMARY KEY,
  application text NOT NULL,
  expires_at bigint NOT NULL
);
CREATE INDEX stream_ticket_expiry ON stream_ticket (expires_at);
