-- Work that only one process does at a time: the one that holds the lease.
CREATE TABLE lease (
  task text PRIMARY KEY,
  holder text NOT NULL,
  leased_until bigint NOT NULL
);
