#!/bin/sh
# Takes a base backup of the whole PostgreSQL server and verifies it.
# usage: base-backup.sh <connection string of a role with REPLICATION> <new folder>
set -eu

pg_basebackup --dbname="$1" --pgdata="$2" --checkpoint=fast --wal-method=stream
pg_verifybackup --quiet "$2"
