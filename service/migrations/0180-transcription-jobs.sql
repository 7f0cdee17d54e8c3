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
