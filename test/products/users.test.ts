import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { postgresMissing, startPostgres } from '../../service/test/postgres.js'
import { createMfa, type MfaOptions, OptionsError } from '../../src/index.js'
import { readOptions } from '../../src/options/settings.js'
import { openStore, type StoreConfig } from '../../src/stores/config.js'
import { openLimits } from '../../src/stores/limits/limits.js'
import type { CounterStore } from '../../src/stores/store.js'
import { createDevices } from '../../src/stores/trust/devices.js'
import { createKnownBrowsers } from '../../src/stores/trust/known-browsers.js'
import { createEndings } from '../../src/stores/trust/not-me-links.js'
import { approveChange, byStandIn } from '../kit/approved-change.js'
import { SECOND, stopClock } from '../kit/clock.js'
import { ownStore } from '../kit/counters.js'
import { everyCase } from '../kit/every-case.js'
import { EMPTY_RECORD, jsonAgent, signInFully, type TestUser } from '../kit/host.js'
import { redisMissing, startRedis } from '../kit/redis.js'
import { challenge, login, verify } from '../kit/sign-in.js'
import { standInService } from '../kit/stand-in-service.js'
import { poolOf } from '../limits/kit.js'
import { noticingHost } from '../notices/kit.js'
import { trustingHost } from '../trust/kit.js'
import { ADMIN, SHOP, signInAt, twoProducts } from './kit.js'

let redis: Awaited<ReturnType<typeof startRedis>> | undefined
let client: Awaited<ReturnType<NonNullable<typeof redis>['connect']>>
let postgres: Awaited<ReturnType<typeof startPostgres>> | undefined
let pool: pg.Pool

beforeAll(async () => {
  if (!redisMissing) {
    redis = await startRedis()
    client = await redis.connect()
  }
  if (!postgresMissing) {
    postgres = await startPostgres()
    pool = poolOf(postgres.url)
  }
})
afterAll(async () => {
  await redis?.stop()
  await pool?.end()
  await postgres?.stop()
})

interface Place {
  readonly counters: () => StoreConfig<CounterStore>
  readonly items: () => StoreConfig
}

const shared = openStore('memory')
const counters = ownStore()
const PLACES: Readonly<Record<string, Place>> = {
  'the memory of this process': { counters: () => counters, items: () => shared },
  ...(!redisMissing && { Redis: { counters: () => ({ redis: client }), items: () => ({ redis: client }) } }),
  ...(!postgresMissing && {
    PostgreSQL: { counters: () => ({ postgres: { pool } }), items: () => ({ postgres: { pool } }) },
  }),
}

const optionsOf = (more: Partial<MfaOptions<TestUser>>): MfaOptions<TestUser> => ({
  service: standInService().service,
  factors: (user) => user.factors,
  ...EMPTY_RECORD,
  ...more,
})

describe.each(Object.keys(PLACES))('two tables of users in %s (R144)', (name) => {
  const { counters: countersAt, items: itemsAt } = PLACES[name] as Place
  const findLimits = (users?: string) =>
    openLimits(readOptions(optionsOf({ limits: { store: countersAt() }, ...(users && { users }) })))
  const itemsOf = (users?: string) => openStore(itemsAt(), users)

  it('count wrong codes, messages, transactions and changes of factors apart', async () => {
    const [customers, staff] = [findLimits(), findLimits('staff')]
    const userId = `u-${name.length}`
    for (let nth = 0; nth < 10; nth++) {
      const permit = await customers.attempts.consume({
        userId,
        challenge: `c${nth}`,
        transaction: `a${nth}`,
      })
      if (permit.ok) await customers.attempts.recordFailure(permit.attempt)
    }
    await customers.messageBudget.consume({ userId, transaction: 'l', slot: 's' })
    await customers.factorChanges.add(userId)
    await customers.sentBackupCodes.remember(userId, 10)
    expect((await customers.attempts.findLimits(userId, [])).lockedForSeconds).toBeGreaterThan(0)
    expect((await staff.attempts.findLimits(userId, [])).lockedForSeconds).toBe(0)
    expect(await staff.messageBudget.consume({ userId, transaction: 'l', slot: 's' })).toMatchObject({
      ok: true,
    })
    expect([await customers.factorChanges.read(userId), await staff.factorChanges.read(userId)]).toEqual([
      1, 0,
    ])
    // Another process of the same table has the same counters, and today's keys.
    expect((await findLimits('users').attempts.findLimits(userId, [])).lockedForSeconds).toBeGreaterThan(0)
    expect((await findLimits('staff').attempts.findLimits(userId, [])).lockedForSeconds).toBe(0)
    // No id of a user reaches into another table.
    expect((await customers.attempts.findLimits(`@staff:${userId}`, [])).lockedForSeconds).toBe(0)
  })

  it('have trusted browsers, links, ends of sessions, recoveries and known browsers of their own', async () => {
    const [customers, staff] = [itemsOf(), itemsOf('staff')]
    const ends = [createEndings(customers), createEndings(staff)] as const
    await ends[0].sessionsValidAfter.set('1')
    expect(await ends[0].sessionsValidAfter.isVoid('1', 0)).toBe(true)
    expect(await ends[1].sessionsValidAfter.isVoid('1', 0)).toBe(false)
    const link = (await ends[0].notMeLinks.issue({ userId: '1', at: 0 })) ?? ''
    expect(await ends[1].notMeLinks.redeem(link)).toBeUndefined()
    expect(await ends[0].notMeLinks.redeem(link)).toMatchObject({ userId: '1' })
    const known = [createKnownBrowsers(customers), createKnownBrowsers(staff)] as const
    await known[0].meet('1', 'a')
    expect(await known[1].meet('1', 'b')).toBe(false)
    // Everything else is kept by the same owners and ids.
    await customers.put('reset:1', { id: 'r', value: 'v', expiresAt: Date.now() + 60_000 })
    expect(await staff.read('reset:1')).toEqual([])
    expect(await itemsOf('users').read('reset:1')).toHaveLength(1)
    expect(createDevices(staff, { maxAgeMs: 1, maxDevices: 1 })).toBeDefined()
  })

  it('do nothing to each other in an app: a lock, the end of the sessions and a trusted browser', async () => {
    const setup = (users: string) =>
      noticingHost({
        options: {
          users,
          limits: { store: countersAt() },
          notices: { store: itemsAt(), onNotice: () => {} },
          urls: { publicUrl: 'https://app.example' },
        },
      })
    const [customers, staff] = [setup('users'), setup('staff')]
    const member = await signInFully(staff, 'bob')
    const customer = await signInFully(customers, 'bob')
    const { account } = createMfa(customers.mfa)
    await account.secure(customers.users.bob as TestUser)
    await customer.get('/secret').expect(401)
    await member.get('/secret').expect(200)
  })
})

describe('the cookies of a table of users (R144)', () => {
  it('have its name behind their own, and the default table has the names of before', async () => {
    const names = async (users?: string) => {
      const made = trustingHost({
        options: {
          ...(users && { users }),
          languages: { offer: ['en', 'de'] },
          notices: { store: 'memory', newBrowser: true, onNotice: () => {} },
        },
      })
      const agent = jsonAgent(made.app)
      await login(agent, 'bob').expect(200)
      await challenge(agent, 'sms').expect(200)
      const verified = await verify(agent, made.standIn.newestCode(), { trust: true }).expect(200)
      const chosen = await agent.post('/mfa/language').send({ language: 'de' }).expect(200)
      await approveChange(agent, '/mfa/enroll-app', byStandIn(made, agent))
      const enrolled = await agent.post('/mfa/enroll-app').set('Accept', 'text/html').type('form').expect(303)
      const page = await agent.get('/mfa/enroll-app/confirm').set('Accept', 'text/html').expect(200)
      // Each of them is read back.
      expect(page.text).toContain('<html lang="de"')
      expect(page.text).toContain('<svg')
      const lines = [verified, chosen, enrolled].flatMap((response) => response.get('Set-Cookie') ?? [])
      return lines.map((line) => line.split('=')[0]).filter((cookie) => cookie !== 'connect.sid')
    }
    const before = await names()
    expect(before).toEqual(
      expect.arrayContaining(['mfa-devices', 'mfa_browser', 'mfa_last', 'mfa_language', 'mfa_enrollment']),
    )
    expect(await names('users')).toEqual(before)
    expect(await names('staff')).toEqual(before.map((cookie) => `${cookie}_staff`))
  })
})

describe('two products with other users behind one session (R144)', () => {
  it('count nothing that was shown at each other', async () => {
    const services = [standInService(), standInService()] as const
    const made = twoProducts({
      shop: { policy: () => 'require', users: 'customers', service: services[0].service },
      admin: { users: 'staff', service: services[1].service },
    })
    const agent = await signInAt(made.app, SHOP, 'bob')
    await challenge(agent, 'sms', SHOP).expect(200)
    await verify(agent, services[0].newestCode(), SHOP).expect(200)
    await agent.get(SHOP.page).expect(200)
    await agent.get(ADMIN.page).expect(401)
    await challenge(agent, 'sms', ADMIN).expect(200)
    await verify(agent, services[1].newestCode(), ADMIN).expect(200)
    await agent.get(ADMIN.page).expect(200)
    await agent.get(SHOP.page).expect(200)
  })

  it('end no session of each other', async () => {
    const clock = stopClock()
    const ending = (users: string) => ({
      users,
      service: standInService().service,
      policy: () => 'skip' as const,
      urls: { path: `/${users === 'staff' ? 'admin' : 'shop'}/mfa`, publicUrl: 'https://app.example' },
      notices: { store: 'memory' as const, onNotice: () => {} },
    })
    const made = twoProducts({ layout: 'gates at paths', shop: ending('customers'), admin: ending('staff') })
    const agent = await signInAt(made.app, SHOP, 'bob')
    for (const { page } of [SHOP, ADMIN]) await agent.get(page).expect(200)
    clock.move(SECOND)
    await made.shop.account.secure(made.users.bob as TestUser)
    for (let visit = 0; visit < 2; visit++) {
      await agent.get(SHOP.page).expect(401)
      await agent.get(ADMIN.page).expect(200)
    }
    clock.move(SECOND)
    await agent.post(SHOP.login).send({ name: 'bob' }).expect(200)
    await agent.get(SHOP.page).expect(200)
  })
})

describe('products of one process that share accounts (R144)', () => {
  const faultsOf = (create: () => unknown): string => {
    try {
      create()
    } catch (error) {
      if (error instanceof OptionsError) return error.message
      throw error
    }
    return ''
  }
  const at = (path: string, more: Partial<MfaOptions<TestUser>> = {}) =>
    optionsOf({ urls: { path }, ...more })

  it('are refused at start without the option users, with the line to add', () =>
    everyCase<Partial<MfaOptions<TestUser>>>(
      [
        {},
        { service: standInService().service },
        { service: { baseUrl: 'http://127.0.0.1:9', apiKey: 'k'.repeat(20) } },
      ],
      async (service) => {
        vi.resetModules()
        const { createMfa: create } = await import('../../src/index.js')
        const own = service.service ?? ('none' as const)
        const options = (path: string, more: object) => {
          const { service: _given, ...rest } = at(path, more)
          return own === 'none' ? rest : { ...rest, service: own }
        }
        const refuse = (path: string, more: object = {}) => {
          try {
            create(options(path, more))
          } catch (error) {
            return String(error)
          }
          return ''
        }
        expect(refuse('/mfa')).toBe('')
        expect(refuse('/mfa')).toBe('')
        expect(refuse('/admin/mfa')).toContain("add users: 'users' to both")
        expect(refuse('/admin/mfa')).toContain('the products /mfa and /admin/mfa')
        expect(refuse('/mfa', { product: 'admin' })).toContain("users: 'staff'")
        expect(refuse('/admin/mfa', { users: 'users' })).not.toBe('')
        // Another table has an application of its own only at the service in this process.
        expect(refuse('/admin/mfa', { users: 'staff' }) === '').toBe(own === 'none')
      },
    ))

  it('are let be where both say that their users are the same, or each has a key of its own', () => {
    const { service } = standInService()
    expect(faultsOf(() => createMfa(at('/mfa', { service, users: 'users' })))).toBe('')
    expect(faultsOf(() => createMfa(at('/admin/mfa', { service, users: 'users' })))).toBe('')
    expect(faultsOf(() => createMfa(at('/desk/mfa', { service, users: 'staff' })))).not.toBe('')
    expect(faultsOf(() => createMfa(at('/desk/mfa', { users: 'staff' })))).toBe('')
    const keyed = (path: string, apiKey: string) =>
      at(path, { service: { baseUrl: 'http://127.0.0.1:9', apiKey } })
    expect(faultsOf(() => createMfa(keyed('/mfa', 'a'.repeat(20))))).toBe('')
    expect(faultsOf(() => createMfa(keyed('/admin/mfa', 'b'.repeat(20))))).toBe('')
  })

  it('are refused at the first request where they get their paths from mounted apps', async () => {
    const { service } = standInService()
    const made = twoProducts({ shop: { service, users: undefined }, admin: { service, users: undefined } })
    const answers = await Promise.all([SHOP, ADMIN].map(({ page }) => jsonAgent(made.app).get(page)))
    for (const { status } of answers) expect(status).toBe(500)
    expect(made.log.join()).toContain("add users: 'users' to both")
  })

  it('cannot have a name that no application or cookie can have', () =>
    everyCase(['', 'Staff', 'a b', 'default', 'x'.repeat(31), '-a', 'ä'], (users) => {
      expect(faultsOf(() => createMfa(optionsOf({ users })))).toContain('users must be')
    }))

  it('cannot have a name of a product with spaces', () =>
    everyCase(['', 'a b', 'ä', 'x'.repeat(101)], (product) => {
      expect(faultsOf(() => createMfa(optionsOf({ product })))).toContain('product must be')
    }))
})
