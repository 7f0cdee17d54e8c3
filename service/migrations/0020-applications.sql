-- Applications and their API keys. Settings are JSON text; what is not set has the default of the release.

CREATE TABLE application (
  application text PRIMARY KEY,
  created_at bigint NOT NULL,
  settings text NOT NULL DEFAULT '{}'
);

-- The key itself is not stored: `hash` is its SHA-256, `hint` the end of its checksum.
CREATE TABLE api_key (
  application text NOT NULL REFERENCES application,
  id text NOT NULL,
  hash text NOT NULL UNIQUE,
  mode text NOT NULL,
  label text NOT NULL,
  hint text NOT NULL,
  created_at bigint NOT NULL,
  last_used_at bigint,
  revoked_at bigint,
  PRIMARY KEY (application, id)
);

-- Every change by an operator. An empty application stands for the whole service.
CREATE TABLE audit (
  position bigserial PRIMARY KEY,
  application text NOT NULL,
  at bigint NOT NULL,
  who text NOT NULL,
  action text NOT NULL,
  detail text NOT NULL
);
CREATE INDEX audit_of_application ON audit (application, position);
