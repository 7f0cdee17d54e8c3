import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createMfa, type MfaOptions, type MfaService } from '../../src/index.js'
import type { TestUser } from '../kit/host.js'

/*
 * The service in this process, for products that name none: customer 1 and staff member 1.
 */

beforeAll(() => {
  vi.stubEnv('DATA_DIR', 'memory://')
  vi.stubEnv('NODE_ENV', 'test')
})
afterAll(() => void vi.unstubAllEnvs())

const create = (more: Partial<MfaOptions<TestUser>>) =>
  createMfa<TestUser>({
    appName: 'Shop',
    factors: () => [],
    logger: { warn: () => {}, error: () => {} },
    diagnostics: false,
    ...more,
  })

const ONE = { contact: { kind: 'email', email: 'one@example.com' }, account: '1' } as const

describe('the service in this process (R144)', () => {
  it('has an application for each table of users, so that what customer 1 sets up is nothing of staff member 1', async () => {
    const customers = create({ product: 'shop' }).client
    const staff = create({ product: 'desk', users: 'staff' }).client
    const alsoStaff = create({ product: 'desk', users: 'staff' }).client
    // It waits while the service starts.
    await vi.waitFor(() => customers.factorsOf?.(ONE), { timeout: 60_000, interval: 500 })
    const kept = async ({ factorsOf }: MfaService) => (await factorsOf?.(ONE))?.backupCodesLeft
    for (const client of [customers, staff, alsoStaff]) expect(await kept(client)).toBe(0)
    expect(await customers.createBackupCodes?.(ONE)).toMatchObject({ outcome: 'created' })
    expect(await kept(customers)).toBeGreaterThan(0)
    expect(await kept(staff)).toBe(0)
    expect(await staff.createBackupCodes?.(ONE)).toMatchObject({ outcome: 'created' })
    expect(await kept(alsoStaff)).toBeGreaterThan(0)
  })
})
