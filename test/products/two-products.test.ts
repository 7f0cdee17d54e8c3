import { describe, expect, it } from 'vitest'
import { HOUR, MINUTE, stopClock } from '../kit/clock.js'
import { everyCase } from '../kit/every-case.js'
import { browserAgent, jsonAgent } from '../kit/host.js'
import { challenge, verify } from '../kit/sign-in.js'
import { ADMIN, LAYOUTS, SHOP, signInAt, type TwoProducts, twoProducts } from './kit.js'
import { findUpgradeOf } from './upgrade.js'

/** Shows a factor at a product, as the user of this agent. */
async function show(
  { standIn }: TwoProducts,
  agent: ReturnType<typeof jsonAgent>,
  at: typeof SHOP,
  factor = 'sms',
) {
  await challenge(agent, factor, at).expect(200)
  const code = factor === 'app' ? '424242' : standIn.newestCode()
  return verify(agent, code, at).expect(200)
}

describe('two products behind one session (R142)', () => {
  it('let nobody into the strict one whom only the lenient one let in, however they are mounted', () =>
    everyCase(LAYOUTS, (layout) =>
      everyCase(['nina', 'bob'], async (name) => {
        const made = twoProducts({ layout, shop: { policy: () => 'skip' } })
        const agent = await signInAt(made.app, SHOP, name)
        await agent.get(SHOP.page).expect(200)
        const refused = await agent.get(ADMIN.page).expect(401)
        expect(refused.body).toMatchObject({ code: 'mfa_required', next: ADMIN.mountPath })
        // The strict one withholds the user for its own requests only.
        expect((await agent.get(SHOP.page).expect(200)).body.user).toBe(made.users[name]?.id)
        await agent.get(ADMIN.page).expect(401)
        expect(made.log).toEqual([])
      }),
    ))

  it('ask for the strength that each of them requires', () =>
    everyCase(LAYOUTS, async (layout) => {
      const made = twoProducts({
        layout,
        shop: { policy: () => 'require' },
        admin: { policy: () => ({ require: 'strong' }) },
      })
      made.standIn.setApp('alice@example.com', '424242')
      const agent = await signInAt(made.app, SHOP, 'alice')
      await show(made, agent, SHOP, 'email')
      await agent.get(SHOP.page).expect(200)
      await agent.get(ADMIN.page).expect(401)
      await challenge(agent, 'email', ADMIN).expect(404)
      await show(made, agent, ADMIN, 'app')
      await agent.get(ADMIN.page).expect(200)
      await agent.get(SHOP.page).expect(200)
      expect(made.policyCalls).toEqual({ shop: 1, admin: 1 })
    }))

  it('sign nobody out of each other, and run each policy once for each session', () =>
    everyCase(LAYOUTS, async (layout) => {
      const made = twoProducts({ layout })
      const agent = await signInAt(made.app, SHOP, 'bob')
      await show(made, agent, SHOP)
      for (let visit = 0; visit < 5; visit++) {
        for (const { page } of [ADMIN, SHOP]) await agent.get(page).expect(200)
      }
      expect(made.policyCalls).toEqual({ shop: 1, admin: 1 })
    }))

  it('cost no call of service or policy, no further read and no write when a user alternates between them', () =>
    everyCase(LAYOUTS, async (layout) => {
      const made = twoProducts({ layout, shop: { policy: () => 'skip' } })
      const lenient = await signInAt(made.app, SHOP, 'bob')
      await lenient.get(ADMIN.page).expect(401)
      const full = await signInAt(made.app, SHOP, 'alice')
      await full.get(ADMIN.page).expect(401)
      made.standIn.setApp('alice@example.com', '424242')
      await show(made, full, ADMIN, 'app')
      for (const agent of [lenient, full]) {
        for (const { page } of [SHOP, ADMIN, SHOP, ADMIN]) {
          const costs = await made.costs(() => agent.get(page))
          expect(costs).toEqual({ calls: 0, policies: 0, reads: 1, writes: 0 })
        }
      }
    }))

  it('count what was shown at one of them at the other, so that nobody confirms twice (R144)', () =>
    everyCase(LAYOUTS, async (layout) => {
      const made = twoProducts({ layout, shop: { policy: () => 'skip' } })
      // In either order, and whether or not the other one has decided before.
      await everyCase([true, false], async (isDecided) => {
        const agent = await signInAt(made.app, SHOP, 'bob')
        if (isDecided) await agent.get(ADMIN.page).expect(401)
        else await agent.get(SHOP.page).expect(200)
        await show(made, agent, ADMIN)
        await agent.get(ADMIN.page).expect(200)
        await agent.post(SHOP.mountPath.replace('mfa', 'step-up')).expect(200)
      })
    }))

  it('complete a login that is pending at both with one factor, and redirect to each other in no state (R138)', () =>
    everyCase(LAYOUTS, async (layout) => {
      const made = twoProducts({ layout, shop: { policy: () => 'require' } })
      const browser = browserAgent(made.app)
      await browser
        .post(SHOP.login)
        .send({ name: 'bob' })
        .expect((res) => [200, 303].includes(res.status))
      for (const { page } of [SHOP, ADMIN]) {
        let path = page
        const seen: string[] = []
        for (;;) {
          const { status, headers } = await browser.get(path)
          if (status !== 303) break
          path = String(headers.location)
          expect(seen).not.toContain(path)
          seen.push(path)
        }
        expect(seen).toHaveLength(1)
      }
    }))

  it('carry the decision of each other to the new session id, without what was under way', async () => {
    const made = twoProducts({
      shop: { policy: () => 'require' },
      admin: { policy: () => ({ require: 'strong' }) },
    })
    made.standIn.setApp('alice@example.com', '424242')
    const agent = await signInAt(made.app, SHOP, 'alice')
    await agent.get(ADMIN.page).expect(401)
    await challenge(agent, 'sms', SHOP).expect(200)
    await show(made, agent, ADMIN, 'app')
    const [stored] = made.store.documents
    expect(Object.keys(made.store.stored)).toHaveLength(1)
    expect(JSON.stringify(stored)).not.toContain('challenge')
    await agent.get(SHOP.page).expect(200)
    expect(made.policyCalls).toEqual({ shop: 1, admin: 1 })
  })

  it('are both void after a new first factor (R04)', async () => {
    const made = twoProducts({ shop: { policy: () => 'skip' } })
    const agent = await signInAt(made.app, SHOP, 'bob')
    await agent.get(ADMIN.page).expect(401)
    await show(made, agent, ADMIN)
    await agent.get(ADMIN.page).expect(200)
    await agent.post(SHOP.login).send({ name: 'bob' }).expect(200)
    await agent.get(SHOP.page).expect(200)
    await agent.get(ADMIN.page).expect(401)
  })

  it('begin a pending login anew where the other one admits the user, and end it where it does not (R05)', async () => {
    const clock = stopClock()
    const made = twoProducts({ shop: { policy: () => 'skip' } })
    const agent = await signInAt(made.app, SHOP, 'bob')
    await agent.get(ADMIN.page).expect(401)
    await challenge(agent, 'sms', ADMIN).expect(200)
    clock.move(10 * MINUTE)
    expect((await agent.get(ADMIN.page).expect(401)).body.code).toBe('mfa_required')
    await verify(agent, made.standIn.newestCode(), ADMIN).expect(409)
    expect((await agent.get(SHOP.page).expect(200)).body.user).toBe('u-bob')
    await show(made, agent, ADMIN)
    expect(made.policyCalls.admin).toBe(1)
    const pending = await signInAt(made.app, ADMIN, 'bob')
    clock.move(HOUR)
    expect((await pending.get(ADMIN.page).expect(401)).body.code).toBe('closed')
  })

  it('keep the session at the other one when a pending login is canceled at one', async () => {
    const made = twoProducts({ shop: { policy: () => 'skip' } })
    const agent = await signInAt(made.app, SHOP, 'bob')
    await agent.get(ADMIN.page).expect(401)
    await agent.post(`${ADMIN.mountPath}/cancel`).expect(200)
    expect((await agent.get(SHOP.page).expect(200)).body.user).toBe('u-bob')
    expect((await agent.get(ADMIN.page).expect(401)).body.code).toBe('mfa_required')
  })

  it('keep the user from Passport while none of them admits, and hand the user back with the first that does (R134)', () =>
    everyCase(LAYOUTS, async (layout) => {
      const made = twoProducts({ layout, shop: { policy: () => 'require' } })
      const agent = await signInAt(made.app, SHOP, 'bob')
      await agent.get(ADMIN.page).expect(401)
      expect(made.store.documents).toEqual([expect.not.objectContaining({ passport: expect.anything() })])
      await show(made, agent, SHOP)
      expect(made.store.documents).toMatchObject([{ passport: { user: 'u-bob' } }])
    }))

  it('refuse connections of the one that withholds, and open those of the other (R134)', () =>
    everyCase(LAYOUTS, async (layout) => {
      const made = twoProducts({ layout, shop: { policy: () => 'skip' } })
      const agent = await signInAt(made.app, SHOP, 'bob')
      const upgrade = findUpgradeOf(made, agent)
      expect(await upgrade(made.shop, SHOP.page)).toMatchObject({
        outcome: 'signed_in',
        user: { id: 'u-bob' },
      })
      expect(await upgrade(made.admin, ADMIN.page)).toMatchObject({
        outcome: 'refused',
        refusal: 'mfa_required',
      })
      await agent.get(ADMIN.page).expect(401)
      expect(await upgrade(made.admin, ADMIN.page)).toMatchObject({
        outcome: 'refused',
        refusal: 'mfa_required',
      })
      expect(await upgrade(made.shop, SHOP.page)).toMatchObject({ outcome: 'signed_in' })
    }))

  it('withhold the user from the login route that both gates precede, if one of them requires more', async () => {
    const made = twoProducts({
      layout: 'a gate within another one',
      shop: { policy: () => 'require' },
      admin: { policy: () => 'skip' },
    })
    const agent = jsonAgent(made.app)
    const { body } = await agent.post(ADMIN.login).send({ name: 'bob' }).expect(200)
    expect(body).toEqual({ user: null, mfa: 'none' })
    await agent.get(ADMIN.page).expect(401)
  })

  it('are two products by the option product, and one by the same name', async () => {
    const paths = { layout: 'gates at paths' as const }
    const one = twoProducts({ ...paths, shop: { product: 'same' }, admin: { product: 'same' } })
    const inOne = await signInAt(one.app, SHOP, 'nina')
    await inOne.get(ADMIN.page).expect(200)
    expect(one.policyCalls).toEqual({ shop: 1, admin: 0 })
    const two = twoProducts({ ...paths, shop: { product: 'shop' }, admin: { product: 'admin' } })
    const inTwo = await signInAt(two.app, SHOP, 'nina')
    await inTwo.get(ADMIN.page).expect(401)
  })
})
