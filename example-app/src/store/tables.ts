import type { Database } from './database.js'

// The lock is for processes that start at the same time: concurrent CREATE TABLE IF NOT EXISTS statements can fail.
const TABLES = `
SELECT pg_advisory_xact_lock(86287);

CREATE TABLE IF NOT EXISTS vault_users (
  id               integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  username         text NOT NULL UNIQUE,
  name             text NOT NULL,
  email            text NOT NULL,
  phone            text,
  methods          text[] NOT NULL,
  has_app          boolean NOT NULL DEFAULT false,
  has_keys         boolean NOT NULL DEFAULT false,
  has_backup_codes boolean NOT NULL DEFAULT false,
  password         text NOT NULL,
  password_version integer NOT NULL DEFAULT 1,
  balance          integer NOT NULL CHECK (balance >= 0)
);

CREATE TABLE IF NOT EXISTS vault_movements (
  id      integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  user_id integer NOT NULL REFERENCES vault_users (id) ON DELETE CASCADE,
  at      timestamptz NOT NULL,
  what    text NOT NULL,
  amount  integer NOT NULL
);

CREATE INDEX IF NOT EXISTS vault_movements_by_user ON vault_movements (user_id, id DESC);

CREATE TABLE IF NOT EXISTS vault_messages (
  id        integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  recipient text NOT NULL,
  subject   text NOT NULL,
  body      text NOT NULL,
  at        timestamptz NOT NULL
);

CREATE TABLE IF NOT EXISTS vault_sign_in_failures (
  who   text PRIMARY KEY,
  count integer NOT NULL,
  since timestamptz NOT NULL
);

CREATE TABLE IF NOT EXISTS vault_stream_tickets (
  user_id integer PRIMARY KEY REFERENCES vault_users (id) ON DELETE CASCADE,
  count   integer NOT NULL,
  since   timestamptz NOT NULL
);
`

/** Creates the missing tables of this app. */
export async function createTables(db: Database): Promise<void> {
  await db.script(TABLES)
}
