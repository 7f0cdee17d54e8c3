import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { operator } from '../src/operator/operator.js'
import { type Restore, recordRestore } from '../src/operator/record-restore.js'
import { deriveKeys } from '../src/store/secrets/keys.js'
import { type Bench, openBench, SECRET, stopClock } from './kit.js'

/*
 * The rows that `countersign-service restored` makes void and lists, row by row. backup.operation.test.ts restores a real database.
 */

let bench: Bench
beforeAll(async () => {
  bench = await openBench()
})
afterAll(() => bench.close())
beforeEach(() => stopClock())
afterEach(() => void vi.useRealTimers())

const LATER = 600_000

const restored = (restore: Restore) =>
  recordRestore(
    {
      ...{ store: bench.store, name: 'ann', relyingParty: null, keys: () => deriveKeys(SECRET) },
      onApplicationChanged: () => {},
    },
    restore,
  )

describe('after a restore', () => {
  test('what was valid at the time is listed, and nothing that is newer, ended or expired', async () => {
    const now = Date.now()
    const at = now - 1_000
    for (const name of ['shop', 'vault']) {
      await operator(bench.store, 'ann', { keys: () => deriveKeys(SECRET) }).createApplication(name)
    }
    for (const [id, createdAt, expiresAt, revokedAt] of [
      ['lasting', at, null, null],
      ['expires later', at, now + 1, null],
      ['expires now', at, now, null],
      ['revoked', at, null, at],
      ['newer', at + 1, null, null],
    ] as const)
      await bench.store.query(
        `INSERT INTO api_key (application, id, hash, mode, label, hint, scopes, created_at, expires_at, revoked_at)
           VALUES ('shop', $1, $1, 'live', 'till', 'mfa_…x', '{}', $2, $3, $4)`,
        [id, createdAt, expiresAt, revokedAt],
      )
    for (const [name, createdAt, disabledAt] of [
      ['kept', at, null],
      ['disabled', at, at],
      ['newer', at + 1, null],
    ] as const) {
      const values = [name, createdAt, disabledAt]
      await bench.store.query(
        "INSERT INTO operator_account (email, role, created_at, disabled_at) VALUES ($1, 'admin', $2, $3)",
        values,
      )
      await bench.store.query(
        `INSERT INTO event_endpoint (application, id, url, types, sealed, created_at, disabled_at)
           VALUES ('shop', $1, 'https://shop.example', '{}', '', $2, $3)`,
        values,
      )
    }
    await bench.store.query(
      `INSERT INTO application_webhook (application, url, channels, sealed, changed_at)
         VALUES ('shop', 'https://shop.example', '{}', '', $1), ('vault', 'https://vault.example', '{}', '', $1 + 1)`,
      [at],
    )
    const { unconfirmed } = await restored({ at, backupCodes: 'keep' })
    expect(unconfirmed.map(({ kind, application, name }) => [kind, application, name])).toEqual([
      ['API key', 'shop', 'expires later'],
      ['API key', 'shop', 'lasting'],
      ['operator', '', 'kept'],
      ['webhook', 'shop', ''],
      ['webhook', 'shop', 'kept'],
    ])
  })

  test('what is open is void and counted, with backup codes only if they are dropped', async () => {
    const now = Date.now()
    const { store } = bench
    for (const [id, endedAt] of [
      ['open', null],
      ['ended', 5],
    ] as const)
      await store.query(
        `INSERT INTO challenge (application, id, account, contact, type, method, purpose, digits, max_attempts, resend_at,
             created_at, expires_at, ended_at, code_mac)
           VALUES ('shop', $1, $1, 'c', 'EMAIL', 'email', 'sign-in', 6, 5, 1, 1, $2, $3, '')`,
        [id, now + LATER, endedAt],
      )
    for (const [id, challenge, settledAt] of [
      ['code', 'open', null],
      ['settled', 'open', 5],
      ['notice', null, null],
      ['backup codes', null, null],
    ] as const)
      await store.query(
        `INSERT INTO outbox (application, account, id, slot, channel, state, challenge, due_at, expires_at, created_at, settled_at)
           VALUES ('shop', 'a', $1, 0, 'email', 'queued', $2, $3, $3, 1, $4)`,
        [id, challenge, now + LATER, settledAt],
      )
    await store.query(
      "INSERT INTO backup_set (application, account, waiting_messages) VALUES ('shop', 'a', '{backup codes}')",
    )
    await store.query(
      "INSERT INTO backup_code (application, account, mac, salt) VALUES ('shop', 'a', 'm', 's')",
    )
    await store.query(
      `INSERT INTO operator_account (email, role, created_at, invitation, enroll_until) VALUES
         ('invited', 'admin', 1, 'hash', 0), ('enrolls', 'admin', 1, NULL, $1), ('enrolled', 'admin', 1, NULL, $1 - 1)`,
      [now + 1],
    )
    const expired = async () => {
      const rows = await store.query<{ id: string }>(
        "SELECT id FROM outbox WHERE application = 'shop' AND expires_at <= $1 ORDER BY id",
        [now],
      )
      return rows.map(({ id }) => id)
    }

    const kept = await restored({ at: now, backupCodes: 'keep' })
    expect(kept.voided).toMatchObject({ codes: 1, messages: 1, invitations: 2 })
    expect(kept.voided).not.toHaveProperty('backup codes')
    expect(await expired()).toEqual(['code'])
    expect(await store.query('SELECT id, ended_at FROM challenge ORDER BY id')).toEqual([
      { id: 'ended', ended_at: 5 },
      { id: 'open', ended_at: now },
    ])

    const { voided } = await restored({ at: now, backupCodes: 'drop' })
    expect(voided).toMatchObject({ codes: 0, 'backup codes': 1, 'sets of backup codes': 1, invitations: 0 })
    expect(await expired()).toEqual(['backup codes', 'code'])
  })
})
