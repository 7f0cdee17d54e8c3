import type { SessionData } from 'express-session'
import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../src/stores/memory.js'
import type { RouteDeps } from '../../src/web/actions/context.js'
import { findDeps } from '../../src/web/actions/mount-path.js'
import { everyCase } from '../kit/every-case.js'
import { FaultyStore } from '../kit/faulty-store.js'
import { addActingRoutes, host, signInFully, type TestUser } from '../kit/host.js'
import { challenge, verify } from '../kit/sign-in.js'
import { ADMIN, SHOP, signInAt, twoProducts } from './kit.js'

/** Makes the records of all sessions what an earlier release wrote, which names no product. */
async function forgetNames({ store }: { readonly store: FaultyStore }): Promise<void> {
  for (const [id, text] of Object.entries(store.stored)) {
    const { mfa, ...data } = JSON.parse(text)
    const { product: _name, others: _others, ...kept } = Object(mfa)
    const isAlone = Object.keys(kept).length === 1
    const named = isAlone ? kept.record : kept
    const earlier = typeof mfa === 'string' ? mfa.slice(mfa.indexOf(' ') + 1) : named
    await new Promise<void>((resolve) =>
      store.set(id, { ...data, mfa: earlier } as SessionData, () => resolve()),
    )
  }
}

describe('a record without the name of a product, as an earlier release writes it (R142)', () => {
  it('counts at /mfa, so that the upgrade asks nobody, and a page writes nothing', async () => {
    const made = host({ store: new FaultyStore() })
    const store = made.store as FaultyStore
    const agent = await signInFully(made, 'bob')
    await forgetNames({ store })
    const before = JSON.stringify(store.stored)
    await agent.get('/secret').expect(200)
    expect(JSON.stringify(store.stored)).toBe(before)
    await agent.post('/transfer').expect(200)
  })

  it('counts for a pending login, whose next record has the name', async () => {
    const made = twoProducts({
      shop: { policy: () => 'require', product: '/mfa' },
      admin: { product: 'admin' },
    })
    const agent = await signInAt(made.app, SHOP, 'bob')
    await challenge(agent, 'sms', SHOP).expect(200)
    await forgetNames(made)
    await agent.get(ADMIN.page).expect(401)
    await verify(agent, made.standIn.newestCode(), SHOP).expect(200)
    await agent.get(SHOP.page).expect(200)
    expect(made.policyCalls).toEqual({ shop: 1, admin: 1 })
    expect(made.store.documents).toMatchObject([{ mfa: { product: '/mfa', others: { admin: {} } } }])
  })

  it('counts for no other product of the process', () =>
    everyCase([{}, { product: 'admin' }], async (admin) => {
      const made = twoProducts({ layout: 'gates at paths', shop: { policy: () => 'skip' }, admin })
      const agent = await signInAt(made.app, SHOP, 'bob')
      await forgetNames(made)
      const { body } = await agent.get(ADMIN.page).expect(401)
      expect(body.code).toBe('mfa_required')
    }))
})

describe('a member of staff who acts for a user at one product (R118, R142)', () => {
  it('acts at the other one, too, and changes no factor there', async () => {
    const made = twoProducts({
      shop: { policy: () => 'optional' },
      admin: { policy: () => 'optional' },
      routes: (router, mfa) => addActingRoutes(router as never, mfa, (name) => made.users[name]),
    })
    made.standIn.setApp('alice@example.com', '424242')
    const agent = await signInAt(made.app, SHOP, 'alice')
    await challenge(agent, 'app', SHOP).expect(200)
    await verify(agent, '424242', SHOP).expect(200)
    await agent.get(ADMIN.page).expect(200)
    await agent.post('/shop/act/nina').expect(200)
    expect((await agent.get(ADMIN.page).expect(200)).body.user).toBe('u-nin')
    await agent.post(`${ADMIN.mountPath}/enroll-app`).expect(403)
    expect((await agent.post(`${ADMIN.mountPath}/backup`).expect(403)).body.code).toBe('acting')
    // Back from there, each product knows the member of staff again.
    await agent.post('/admin/stop').expect(200)
    expect((await agent.get(SHOP.page).expect(200)).body).toEqual({ user: 'u-ali', mfa: 'verified' })
    expect((await agent.get(ADMIN.page).expect(200)).body.user).toBe('u-ali')
  })
})

describe('the end of the sessions of a user', () => {
  it('ends a session at a product that it has not reached before', async () => {
    const ending = {
      policy: () => 'skip' as const,
      notices: { store: 'memory' as const, onNotice: () => {} },
    }
    const at = (path: string) => ({ ...ending, urls: { path, publicUrl: 'https://app.example' } })
    const made = twoProducts({ layout: 'gates at paths', shop: at('/shop/mfa'), admin: at('/admin/mfa') })
    const agent = await signInAt(made.app, SHOP, 'bob')
    await agent.get(SHOP.page).expect(200)
    await new Promise((resolve) => setTimeout(resolve, 2))
    // Each of the two has a memory of its own.
    await made.admin.account.secure(made.users.bob as never)
    await agent.get(ADMIN.page).expect(401)
    await agent.get(SHOP.page).expect(401)
  })
  it('ends none when a factor that is set up at one of them closes a reset, at the other with the same users', () =>
    everyCase(['require', 'skip'] as const, async (decision) => {
      const store = memoryStore()
      const ending = {
        recovery: { store, onNotice: () => {}, onFactorsEnded: () => {} },
        trustedDevices: { store },
        notices: { onNotice: () => {} },
      }
      const at = (path: string) => ({ ...ending, urls: { path, publicUrl: 'https://app.example' } })
      const made = twoProducts({
        layout: 'gates at paths',
        shop: { ...at('/shop/mfa'), policy: () => 'require' },
        admin: { ...at('/admin/mfa'), policy: () => decision },
      })
      const { code } = await made.shop.account.reset(made.users.bob as TestUser, {
        by: 'staff',
        reason: 'lost',
      })
      const elsewhere = await signInAt(made.app, ADMIN, 'bob')
      const agent = await signInAt(made.app, SHOP, 'bob')
      await agent.get(ADMIN.page)
      await verify(agent, code, { ...SHOP, factor: 'bypass' }).expect(200)
      await agent.post(`${SHOP.mountPath}/enroll-app`).send({}).expect(200)
      await agent.post(`${SHOP.mountPath}/enroll-app/confirm`).send({ code: '123456' }).expect(200)
      for (const { page } of [SHOP, ADMIN, SHOP]) await agent.get(page).expect(200)
      // The sessions that began before the reset was closed have ended at both.
      for (const { page } of [SHOP, ADMIN]) await elsewhere.get(page).expect(401)
    }))
})

describe('the settings of an app that is mounted at a path', () => {
  it('are built once for each path of the app', () => {
    const own = {
      diagnostics: { warn: () => {}, report: () => {} },
      settings: {
        urls: { path: '/mfa', pathPrefix: '', publicUrl: undefined },
        login: { signInPath: '/login', signOutPath: '/logout', homePath: '/', pendingPaths: [] },
      },
    } as unknown as RouteDeps
    const at = (path: string, baseUrl = path) =>
      findDeps({ baseUrl, app: { path: () => path } } as never, own)
    expect(at('/shop')).toBe(at('/shop'))
    expect(at('/shop', '/SHOP')).toBe(at('/shop'))
    expect(at('/desk')).toBe(at('/desk'))
    expect([at('/shop'), at('/desk')].map(({ settings }) => settings.urls.path)).toEqual([
      '/shop/mfa',
      '/desk/mfa',
    ])
  })
})
