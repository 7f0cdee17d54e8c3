#!/bin/sh
# Prepares a data folder that recovers to a point in time when PostgreSQL starts on it.
# usage: restore.sh <base backup> <archive of write-ahead logs> <new data folder> <time, such as '2026-11-22 04:30:00+00'>
# Run it as the user who runs PostgreSQL. The archive must be complete from the base backup to the time.
set -eu

backup=$1 archive=$2 data=$3 time=$4

if [ -e "$data" ]; then
  echo "restore.sh: $data exists already" >&2
  exit 1
fi
cp -a "$backup" "$data"
chmod 700 "$data"
cat >>"$data/postgresql.auto.conf" <<END
restore_command = 'cp "$archive/%f" "%p"'
recovery_target_time = '$time'
recovery_target_action = 'promote'
END
touch "$data/recovery.signal"
echo "Start PostgreSQL on $data, then run: countersign-service restored --at '$time' --backup-codes <keep or drop>"
