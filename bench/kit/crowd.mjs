import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { getSlot, slotTable } from '../../service/dist/parts.js'
import { bulkLoad } from './bulk-load.mjs'
import { spread } from './people.mjs'
import { script } from './postgres.mjs'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Days whose messages are kept. */
const DAYS = 7

/** How many messages each account received in the week for which they are kept. */
export const MESSAGES_PER_ACCOUNT = 5

/** The settings of PostgreSQL while a crowd is loaded. */
export const LOADING = [
  'wal_level=minimal',
  'max_wal_senders=0',
  'max_wal_size=8GB',
  'autovacuum=off',
  'shared_buffers=512MB',
]

/**
 * Loads accounts with everything that belongs to them, and the messages of a week. Neither are in the order of an index. What
 * the folder of this PostgreSQL holds already is kept, so that a run that was stopped goes on with the next table.
 */
export async function loadCrowd(postgres, people) {
  for (const table of tablesOf(people, Date.now())) {
    const done = join(postgres.folder, `${table.table}.${people}.loaded`)
    if (existsSync(done)) continue
    await bulkLoad(postgres, table, linesOf(table))
    writeFileSync(done, '')
  }
  await script(postgres.url, 'ANALYZE')
}

function tablesOf(people, now) {
  return [...accountTables(people, now), ...passingTables(people, now), ...messagesOf(people, now)]
}

const account = (n) => `account:${spread(n)}`
const contact = (n) => `p${n}@example.com`
/** 22 characters, as the ids of messages and challenges have. */
const longId = (n) => `${spread(n)}${spread(n + 0x5bd1e995)}000000`

function accountTables(people, now) {
  const wrong = (n) => JSON.stringify([{ at: now - (n % DAY_MS), factor: 'APP' }])
  return [
    {
      table: 'account',
      columns: 'application, account, reference, proven_email, email_hash, failures',
      last: people,
      row: (n) => [
        ...['default', account(n), `benchmarkkey.${spread(n)}`, contact(n), `benchmarkkey.${longId(n)}`],
        n % 20 > 0 ? '[]' : wrong(n),
      ],
    },
    {
      table: 'app_secret',
      columns: 'application, account, sealed',
      last: people,
      step: 2,
      row: (n) => ['default', account(n), `1.benchmarkkey.${'x'.repeat(85)}`],
    },
    {
      table: 'factor',
      columns: 'application, account, factor, failures',
      last: people,
      step: 4,
      row: (n) => ['default', account(n), 'APP', 1],
    },
    {
      table: 'backup_set',
      columns: 'application, account, contact, salt, made_at',
      last: people,
      step: 10,
      row: (n) => ['default', account(n), contact(n), 's', 0],
    },
    {
      table: 'backup_code',
      columns: 'application, account, salt, mac',
      last: people,
      row: (n) => ['default', account(n - (n % 10)), 's', `benchmarkkey.${spread(n)}`],
    },
  ]
}

function passingTables(people, now) {
  return [
    {
      table: 'challenge',
      columns:
        'application, id, account, contact, type, method, purpose, digits, max_attempts, resend_at, created_at, expires_at, code_mac',
      last: people,
      step: 4,
      row: (n) => [
        ...['default', longId(n), account(n), `+${n}`, 'PHONE', 'sms', 'sign-in', 6, 5, 0, now],
        // They are kept for a day after they expired.
        ...[now + HOUR_MS / 6 - (n % DAY_MS), `benchmarkkey.${spread(n)}`],
      ],
    },
    {
      table: 'budget',
      columns: 'application, scope, key, times, last_hour',
      last: people,
      row: (n) => {
        const at = now - (n % DAY_MS)
        return ['default', n % 2 ? 'account' : 'destination', account(n), `{${at}}`, Math.floor(at / HOUR_MS)]
      },
    },
    {
      table: 'idempotent_request',
      columns: 'application, key, request, claim, claimed_until, expires_at',
      last: people,
      step: 10,
      row: (n) => ['default', spread(n), 'r', 'c', 0, now + DAY_MS + n],
    },
    {
      table: 'audit',
      columns: 'application, at, who, action, detail',
      last: people,
      step: 20,
      row: (n) => ['default', n, 'operator', n % 100 > 0 ? 'key.created' : 'user.unlocked', 'x'],
    },
    {
      table: 'inbox',
      columns: 'application, recipient, sealed, arrived_at',
      last: people,
      step: 20,
      row: (n) => ['other', contact(n), '1.benchmarkkey.x', now],
    },
  ]
}

/** The messages of a week, for each partition that has some. */
function messagesOf(people, now) {
  const perDay = Math.floor((people * MESSAGES_PER_ACCOUNT) / DAYS)
  const slotOf = (daysAgo) => getSlot(now - daysAgo * DAY_MS)
  const days = Array.from({ length: DAYS }, (_, daysAgo) => daysAgo)
  return [...new Set(days.map(slotOf))].map((slot) => ({
    table: slotTable(slot),
    partitionOf: 'outbox',
    slot,
    columns: `application, account, id, slot, channel, state, masked, challenge, carrier, expires_at, created_at,
      updated_at, settled_at, attempts`,
    first: days.findIndex((day) => slotOf(day) === slot) * perDay + 1,
    last: (days.findLastIndex((day) => slotOf(day) === slot) + 1) * perDay,
    row: (n) => {
      const at = now - Math.floor((n - 1) / perDay) * DAY_MS
      return [
        ...[
          'default',
          account(1 + (n % people)),
          longId(n),
          slot,
          'email',
          'sent',
          'p***@example.com',
          longId(n + 1e9),
        ],
        ...['smtp', at, at - (n % HOUR_MS), at, at, 1],
      ]
    },
  }))
}

const ROWS_AT_ONCE = 2_000

function* linesOf({ first = 1, last, step = 1, row }) {
  let lines = []
  for (let n = first + ((step - (first % step)) % step); n <= last; n += step) {
    lines.push(row(n).join('\t'))
    if (lines.length === ROWS_AT_ONCE) {
      yield `${lines.join('\n')}\n`
      lines = []
    }
  }
  if (lines.length > 0) yield `${lines.join('\n')}\n`
}
