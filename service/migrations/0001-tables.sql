-- The tables of the service. Later releases add migrations, and change none.
--
-- Times are milliseconds since 1970 from the service's clock; SQL never reads the database's clock. Whatever belongs to an account
-- has a primary key that begins with application and account, by which accounts can be distributed. A fillfactor of 70 leaves
-- space on the page for the new version of a row that every verification or send changes.

-- APPLICATIONS

-- Settings are JSON text; what is not set has the default of the release.
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
  scopes text[] NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint,
  last_used_at bigint,
  last_address text,
  networks text[] NOT NULL DEFAULT '{}',
  new_network text,
  new_network_at bigint,
  revoked_at bigint,
  PRIMARY KEY (application, id)
);

-- The webhook to which an application's own messages of some channels are delivered, instead of to the carriers of the service.
-- The secret that signs its requests is sealed; the one before signs them too, until its time is over.
CREATE TABLE application_webhook (
  application text PRIMARY KEY REFERENCES application,
  url text NOT NULL,
  channels text[] NOT NULL,
  sealed text NOT NULL,
  former text,
  former_until bigint,
  changed_at bigint NOT NULL
);

-- Ids of the keys that sealed columns and keyed hashes depend on. Sealed texts and hashes begin with the id of their key, so that a
-- secret can be rotated while they are in use.
CREATE TABLE sealing_key (
  key_id text PRIMARY KEY
);

-- ACCOUNTS

-- Everything that decides about a verification, apart from the code, is in the account's row, so that a statement that locks this
-- row sees its latest version: the statement's snapshot of other rows is older than its locks.
CREATE TABLE account (
  application text NOT NULL,
  account text NOT NULL,
  locked_at bigint NOT NULL DEFAULT 0,
  locked_until bigint NOT NULL DEFAULT 0,
  lock_level integer NOT NULL DEFAULT 0,
  proven_email text,
  proven_phone text,
  locale text,
  -- Keyed hashes by which operators find the account: the reference that stands for it in the log, and its proven contacts. They
  -- begin with the id of their key; in byte order, an index tells which keys they depend on.
  reference text COLLATE "C",
  email_hash text COLLATE "C",
  phone_hash text COLLATE "C",
  -- The unforgiven wrong codes of the last day: [{ at, factor, scope }]. A valid code in the same scope (a challenge or a
  -- transaction of the caller) forgives them.
  failures jsonb NOT NULL DEFAULT '[]',
  -- When each factor was last used, to the hour: { "APP": 1764000000000, "PHONE:+447700900123": … }.
  used jsonb NOT NULL DEFAULT '{}',
  PRIMARY KEY (application, account)
) WITH (fillfactor = 70);
CREATE INDEX account_by_reference ON account (reference);
CREATE INDEX account_by_email ON account (email_hash) WHERE email_hash IS NOT NULL;
CREATE INDEX account_by_phone ON account (phone_hash) WHERE phone_hash IS NOT NULL;
-- To find accounts by the beginning of their name.
CREATE INDEX account_by_beginning ON account (account text_pattern_ops);
-- To count and unlock the locked accounts of an application. Most accounts were never locked.
CREATE INDEX account_locked ON account (application, locked_until) WHERE locked_until > 0;
-- To forget failures of more than a day ago. Most accounts have none.
CREATE INDEX account_failures ON account (((failures -> -1 ->> 'at')::bigint)) WHERE failures <> '[]';

-- The number of wrong codes since a factor was bound.
CREATE TABLE factor (
  application text NOT NULL,
  account text NOT NULL,
  factor text NOT NULL,
  failures integer NOT NULL DEFAULT 0,
  PRIMARY KEY (application, account, factor)
);

-- The code is not stored: it is derived from a key outside the database and the row's identity. `code_mac` is a keyed hash that is
-- compared with a typed code, so that one step compares and counts. `transaction` is the caller's name for what the code is for,
-- or empty.
CREATE TABLE challenge (
  application text NOT NULL,
  id text NOT NULL,
  account text NOT NULL,
  contact text NOT NULL,
  type text NOT NULL,
  method text NOT NULL,
  purpose text NOT NULL,
  digits integer NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  max_attempts integer NOT NULL,
  sends integer NOT NULL DEFAULT 1,
  resend_at bigint NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  ended_at bigint,
  code_mac text NOT NULL,
  transaction text NOT NULL DEFAULT '',
  -- One row for each purpose of a code: a new challenge replaces the one before, even if requests arrive at once.
  PRIMARY KEY (application, account, contact, type, method, purpose, transaction)
) WITH (fillfactor = 70);
-- To delete expired challenges.
CREATE INDEX challenge_expiry ON challenge (expires_at);

-- The sealed secret of an authenticator app. A new one is `pending` until its first valid code, and expires. A secret that was
-- imported is `weak` if it has fewer than 128 bits.
CREATE TABLE app_secret (
  application text NOT NULL,
  account text NOT NULL,
  sealed text,
  weak boolean NOT NULL DEFAULT false,
  digits integer NOT NULL DEFAULT 6,
  last_step bigint NOT NULL DEFAULT -1,
  bound_at bigint,
  pending text,
  pending_since bigint,
  PRIMARY KEY (application, account)
) WITH (fillfactor = 70);
-- To find the keys that secrets are sealed with, without reading the secrets. Not partial indexes: statements that find one secret
-- by its account could be planned to read all of such an index.
CREATE INDEX app_secret_sealing_key ON app_secret (split_part(sealed, '.', 2));
CREATE INDEX app_secret_pending_key ON app_secret (split_part(pending, '.', 2));
-- To count the weak secrets of an application. Few have any.
CREATE INDEX app_secret_weak ON app_secret (application) WHERE weak;

-- New backup codes wait beside the active set until their messages were handed over: exactly one set is active. `waiting_messages`
-- are the ids of these messages.
CREATE TABLE backup_set (
  application text NOT NULL,
  account text NOT NULL,
  contact text,
  salt text,
  made_at bigint,
  waiting_contact text,
  waiting_salt text,
  waiting_since bigint,
  waiting_messages text[],
  PRIMARY KEY (application, account)
);
-- To settle sets whose messages were delivered or given up.
CREATE INDEX backup_set_waiting ON backup_set (waiting_since) WHERE waiting_since IS NOT NULL;

CREATE TABLE backup_code (
  application text NOT NULL,
  account text NOT NULL,
  mac text NOT NULL,
  salt text NOT NULL,
  PRIMARY KEY (application, account, mac)
);
-- To find the keys that codes are hashed with, and the codes of one key.
CREATE INDEX backup_code_hashed_with ON backup_code (split_part(mac, '.', 1));

-- SECURITY KEYS AND PASSKEYS (WebAuthn)

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
-- To count the accounts whose keys cannot be used, one kind of key at a time, without reading the keys of all others.
CREATE INDEX account_key_of_method ON account_key (application, method, account);

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

-- LIMITS

-- The times of the latest messages of an account, to a destination or for a client address.
CREATE TABLE budget (
  application text NOT NULL,
  scope text NOT NULL,
  key text NOT NULL,
  times bigint[] NOT NULL,
  -- The hour of the latest message, so that an index finds budgets that are no longer needed. It changes once an hour: an index on
  -- the times themselves would change with every message.
  last_hour integer NOT NULL DEFAULT 0,
  PRIMARY KEY (application, scope, key)
);
CREATE INDEX budget_expiry ON budget (last_hour);

-- An application's day is counted in several rows (`part`): a single row, which each send locks until it is committed, would make
-- all other sends wait.
CREATE TABLE daily_budget (
  application text NOT NULL,
  day integer NOT NULL,
  messages integer NOT NULL,
  part integer NOT NULL DEFAULT 0,
  PRIMARY KEY (application, day, part)
);
-- To delete the counts of past days.
CREATE INDEX daily_budget_expiry ON daily_budget (day);

-- What an application sends to phones, by country (GB) and by prefix (a number without its last four digits), against SMS
-- pumping: how many messages in the current period (an hour), and how many codes were sent and typed. Both are halved when
-- a day begins. For the scope `spend`, the keys are day and month and the count is money in millionths.
CREATE TABLE phone_traffic (
  application text NOT NULL,
  scope text NOT NULL,
  key text NOT NULL,
  period bigint NOT NULL DEFAULT 0,
  in_period bigint NOT NULL DEFAULT 0,
  day integer NOT NULL DEFAULT 0,
  sent integer NOT NULL DEFAULT 0,
  typed integer NOT NULL DEFAULT 0,
  exhausted_at bigint NOT NULL DEFAULT 0,
  paused_at bigint,
  PRIMARY KEY (application, scope, key)
) WITH (fillfactor = 70);
CREATE INDEX phone_traffic_paused ON phone_traffic (application) WHERE paused_at IS NOT NULL;
-- To delete the counts of countries and prefixes to which nothing was sent for a month.
CREATE INDEX phone_traffic_expiry ON phone_traffic (day);

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

-- MESSAGES

-- Messages are kept in six partitions that take turns, each for two days (`slot`). A partition whose messages are a week old is
-- truncated: that costs the same for one message and for a hundred million. No partition has to be created or dropped later, so the
-- service needs no right to do so, and works if nothing was deleted for a while.
--
-- `state` is queued, sent, delivered, failed, refused (by a carrier, for good) or expired (no time or attempts left). `sealed` is the
-- encrypted message; NULL after it was handed over or given up. `masked` is the recipient as it may be shown, `recipient` a keyed
-- hash of the mailbox or phone where the account is not named after it, `country` the ISO code of the phone's country, so that what
-- happens to the message later is counted there. `fault` is why the last attempt failed, `detail` what the carrier says about it,
-- `report` what the carrier last reported: delivered, failed or complaint. `price` is what the carrier says that the message costs,
-- with the currency if it names one.
--
-- `due_at` is NULL while the process that wrote a message delivers it for the first time, and once it is settled. So most messages
-- are never in an index of those that wait, and the update that records their delivery changes no index.
CREATE TABLE outbox (
  application text NOT NULL,
  id text NOT NULL,
  channel text NOT NULL,
  state text NOT NULL,
  sealed text,
  attempts integer NOT NULL DEFAULT 0,
  due_at bigint,
  expires_at bigint NOT NULL,
  created_at bigint NOT NULL,
  settled_at bigint,
  challenge text,
  masked text NOT NULL DEFAULT '',
  carrier text,
  carrier_id text,
  fault text,
  updated_at bigint NOT NULL DEFAULT 0,
  account text NOT NULL,
  slot smallint NOT NULL,
  report text,
  country text,
  recipient text,
  detail text,
  price text,
  -- The state, unless it is that of most messages: sent, or on the way for the first time.
  listed_state text GENERATED ALWAYS AS (
    CASE WHEN state = 'sent' OR (state = 'queued' AND due_at IS NULL) THEN NULL ELSE state END
  ) STORED
) PARTITION BY LIST (slot);
CREATE INDEX outbox_due ON outbox (due_at) WHERE due_at IS NOT NULL;
-- To find the messages whose process died, and the newest one of a partition.
CREATE INDEX outbox_by_time ON outbox (created_at);
CREATE INDEX outbox_of_challenge ON outbox (application, challenge) WHERE challenge IS NOT NULL;
CREATE INDEX outbox_of_account ON outbox (application, account);
CREATE INDEX outbox_of_recipient ON outbox (recipient, application) WHERE recipient IS NOT NULL;
-- To list the latest messages of an application, and those that are not sent.
CREATE INDEX outbox_listed ON outbox (application, created_at);
CREATE INDEX outbox_unsent ON outbox (application, listed_state, created_at) WHERE listed_state IS NOT NULL;
-- A primary key of the whole table would have to contain the slot. It begins with the id, by which operators find a message of any
-- application.
DO $$ BEGIN
  FOR slot IN 0..5 LOOP
    EXECUTE format('CREATE TABLE outbox_%s PARTITION OF outbox (PRIMARY KEY (id, application, account)) FOR VALUES IN (%s)
      WITH (fillfactor = 70)', slot, slot);
  END LOOP;
END $$;

-- Mailboxes whose owner reported a mail of an application as spam. They get no more mail of this application. In lower case.
CREATE TABLE mail_complaint (
  application text NOT NULL,
  email text NOT NULL,
  complained_at bigint NOT NULL,
  PRIMARY KEY (application, email)
);

-- The development inbox.
CREATE TABLE inbox (
  position bigserial PRIMARY KEY,
  application text NOT NULL,
  recipient text NOT NULL,
  sealed text NOT NULL,
  arrived_at bigint NOT NULL DEFAULT 0
);
-- To delete the oldest messages of an application, and to list the others.
CREATE INDEX inbox_of_application ON inbox (application, position);
-- To find the messages to a contact.
CREATE INDEX inbox_of_recipient ON inbox (application, lower(recipient));
-- To delete old messages of all applications.
CREATE INDEX inbox_expiry ON inbox (arrived_at);
-- To find the keys that messages are sealed with.
CREATE INDEX inbox_sealing_key ON inbox (split_part(sealed, '.', 2));

-- What an application sent and what its users typed, by method, country and carrier: in steps of five minutes, of an hour when
-- they are two hours old, and of a day when they are two days old; the sums over all applications when they are eight days old. `starts_at` is the beginning of the step. The rows of the
-- application '' are the sums over all applications. There are no contacts and accounts in it.
CREATE TABLE activity (
  application text NOT NULL,
  starts_at bigint NOT NULL,
  method text NOT NULL,
  country text NOT NULL,
  carrier text NOT NULL,
  sent bigint NOT NULL DEFAULT 0,
  codes bigint NOT NULL DEFAULT 0,
  delivered bigint NOT NULL DEFAULT 0,
  failed bigint NOT NULL DEFAULT 0,
  typed bigint NOT NULL DEFAULT 0,
  wrong bigint NOT NULL DEFAULT 0,
  locked bigint NOT NULL DEFAULT 0,
  checked bigint NOT NULL DEFAULT 0,
  risky bigint NOT NULL DEFAULT 0,
  unchecked bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (application, starts_at, method, country, carrier)
) WITH (fillfactor = 70);
CREATE INDEX activity_past ON activity (starts_at);
CREATE INDEX activity_by_minutes ON activity (starts_at) WHERE starts_at % 3600000 <> 0;
CREATE INDEX activity_by_hours ON activity (starts_at) WHERE starts_at % 86400000 <> 0;

-- EVENTS

-- The endpoints to which events of an application are posted, such as `user.locked`. The secret that signs the requests is sealed;
-- the one before signs them too, until its time is over. A paused endpoint keeps its events until it is resumed; one that failed
-- for days is disabled, and gets no new ones.
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
-- To count and repeat the events that were given up.
CREATE INDEX event_delivery_failed ON event_delivery (application, endpoint, created_at) WHERE state = 'failed';
CREATE INDEX event_delivery_of_account ON event_delivery (application, account) WHERE account IS NOT NULL;
CREATE INDEX event_delivery_expiry ON event_delivery (created_at);

-- TRANSCRIPTION

-- One row for each unused ticket of a transcription stream, which is valid for a minute. `hash` is the SHA-256 of the ticket.
CREATE TABLE stream_ticket (
  hash text PRIMARY KEY,
  application text NOT NULL,
  expires_at bigint NOT NULL
);
CREATE INDEX stream_ticket_expiry ON stream_ticket (expires_at);

-- Recordings that are transcribed without a caller who waits. `sealed` contains the key of the job, which encrypts its recording and
-- its result, and what the caller requested. `due_at` is when a queued job may run, and until when the process that runs it is
-- believed to be alive. `bytes` is the size of the stored recording.
CREATE TABLE transcription_job (
  id text PRIMARY KEY,
  application text NOT NULL,
  state text NOT NULL,
  sealed text NOT NULL,
  bytes bigint NOT NULL,
  created_at bigint NOT NULL,
  due_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  holder text,
  runs integer NOT NULL DEFAULT 0,
  retries integer NOT NULL DEFAULT 0,
  result bytea,
  problem text
);
CREATE INDEX transcription_job_due ON transcription_job (due_at) WHERE state IN ('queued', 'running');
CREATE INDEX transcription_job_of_application ON transcription_job (application, state);
CREATE INDEX transcription_job_expiry ON transcription_job (expires_at);

-- The recording of an unfinished job, in encrypted parts of 16 KB.
CREATE TABLE transcription_job_part (
  job text NOT NULL REFERENCES transcription_job ON DELETE CASCADE,
  part integer NOT NULL,
  content bytea NOT NULL,
  PRIMARY KEY (job, part)
);

-- OPERATORS

-- People who use the console. `password` is an scrypt hash, and absent until the invitation was accepted.
CREATE TABLE operator_account (
  -- Of an operator of the identity provider, issuer and subject.
  email text PRIMARY KEY,
  role text NOT NULL,
  issuer text,
  subject text,
  -- The email address that the identity provider says to be theirs, of its operators.
  verified_email text,
  invitation text,
  invited_until bigint NOT NULL DEFAULT 0,
  password text,
  -- Sessions name the version that they began with.
  version integer NOT NULL DEFAULT 0,
  enroll_until bigint NOT NULL DEFAULT 0,
  app_enrolled_at bigint,
  created_at bigint NOT NULL,
  signed_in_at bigint,
  disabled_at bigint,
  -- Who holds the account. Every account begins with a holder of its own, and gets a new one when the command line makes it
  -- independent.
  holder text NOT NULL DEFAULT gen_random_uuid()::text
);

-- What one holder is to another; each relation is stored in both directions. `made` and `made-by`: one gave a link or a role to the
-- other, or asked for it. `same`: they have the same verified email address, or an administrator said that they are one person. Holders
-- who are related in these ways, directly or through others, count as one person, so relations are never deleted, not even with their
-- accounts. `apart`: an administrator said that they are two persons, which counts where nothing relates them.
CREATE TABLE operator_relation (
  holder text NOT NULL,
  related text NOT NULL,
  kind text NOT NULL,
  PRIMARY KEY (holder, related, kind)
);

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
  -- The hash of a link that is valid once the request is approved.
  invitation text,
  PRIMARY KEY (application, id)
);
CREATE INDEX approval_request_expiry ON approval_request (expires_at);

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
-- The entries that may end with the name of an account, which an erasure replaces.
CREATE INDEX audit_named ON audit (application, reverse(detail) text_pattern_ops)
  WHERE action IN ('user.unlocked', 'factor.disabled');
-- To list the entries of a time: all of them, and those of an application, an operator or an action.
CREATE INDEX audit_by_time ON audit (at, position);
CREATE INDEX audit_of_application_by_time ON audit (application, at, position);
CREATE INDEX audit_of_operator ON audit (who, at, position);
CREATE INDEX audit_of_action ON audit (action, at, position);

-- Sessions of the console, by the hash of the session id.
CREATE TABLE console_session (
  id text PRIMARY KEY,
  data text NOT NULL,
  expires_at bigint NOT NULL
);
CREATE INDEX console_session_expiry ON console_session (expires_at);

-- Passwords that were tried at the console, by account and network, and what the plugin counts for operators, as it writes it.
CREATE TABLE console_counter (
  key text PRIMARY KEY,
  count integer NOT NULL DEFAULT 0,
  limits text,
  ends_at bigint NOT NULL
);
CREATE INDEX console_counter_expiry ON console_counter (ends_at);

-- PROCESSES

-- Work that only one process does at a time: the one that holds the lease. For the task `outbox`, `leased_until` is the time until
-- which the messages of processes that died were looked for.
CREATE TABLE lease (
  task text PRIMARY KEY,
  holder text NOT NULL,
  leased_until bigint NOT NULL
);
