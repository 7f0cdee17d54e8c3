import express from 'express'
import { describe, expect, it } from 'vitest'
import { createMfa } from '../../src/index.js'
import { HOUR, MINUTE, stopClock } from '../kit/clock.js'
import type { HostSetup } from '../kit/host.js'
import { jsonAgent, signIn } from '../kit/host.js'
import { login, verify } from '../kit/sign-in.js'
import { recoveringHost, signInByApp } from './kit.js'

/** A host whose staff, otto and alice, request and approve resets of bob. */
function helpDesk(setup: HostSetup = {}) {
  return recoveringHost({
    ...setup,
    beforeGate: (app, auth) => void app.use(auth.initialize()),
    routes(app, mfa) {
      const { account } = createMfa(mfa)
      app.use('/admin', express.json())
      app.post('/admin/request', async (req, res) => {
        const { bob } = made.users
        if (bob) res.json(await account.requestReset(req, bob, { reason: 'lost phone', ...req.body }))
      })
      app.post('/admin/approve', async (req, res) => {
        res.json((await account.approveReset(req, req.body.id)) ?? {})
      })
      app.post('/act/:name', async (req, res) => {
        const customer = made.users[req.params.name]
        if (customer) await account.actAs(req, customer, { reason: 'ticket 7' })
        res.json({})
      })
    },
  })
}

let made: ReturnType<typeof helpDesk>

/** Opens a help desk, at which otto and alice have just shown their apps. */
async function open(setup?: HostSetup) {
  made = helpDesk(setup)
  return { otto: await signInByApp(made, 'otto'), alice: await signInByApp(made, 'alice') }
}

type Agent = ReturnType<typeof jsonAgent>

const requested = async (agent: Agent, order: object = {}) =>
  (await agent.post('/admin/request').send(order).expect(200)).body as { id: string; expiresAt: number }
const approve = (agent: Agent, id: unknown) => agent.post('/admin/approve').send({ id })

describe('a reset that two members of staff decide on (R95)', () => {
  it('ends nothing when it is requested, and everything when another session approves it', async () => {
    stopClock()
    const { otto, alice } = await open({ options: { recovery: { requireTwoApprovers: true } as never } })
    const { id, expiresAt } = await requested(otto)
    expect(expiresAt).toBe(Date.now() + HOUR)
    expect(made.told('account_reset')).toEqual([])
    const { body } = await approve(alice, id).expect(200)
    expect(made.told('account_reset')).toMatchObject([
      { userId: 'u-bob', by: 'u-ott', approvedBy: 'u-ali', reason: 'lost phone', methods: ['sms'] },
    ])
    const agent = await signIn(made.app, 'bob')
    expect((await verify(agent, body.code, { factor: 'bypass' }).expect(200)).body.status).toBe(
      'enrollment_required',
    )
  })

  it('is refused to the session that requested it, and to another one of the same person', async () => {
    stopClock()
    const { otto } = await open()
    const { id } = await requested(otto)
    made.standIn.setApp('otto@example.com', '535353')
    const second = jsonAgent(made.app)
    await login(second, 'otto').expect(200)
    await verify(second, '535353', { factor: 'app' }).expect(200)
    for (const agent of [otto, second]) {
      expect((await approve(agent, id).expect(500)).body).toEqual({ failed: 'ERR_MFA_RESET_APPROVAL' })
    }
    expect(made.told('account_reset')).toEqual([])
  })

  it('is approved once, within an hour, and by its id alone', async () => {
    const clock = stopClock()
    const { otto, alice } = await open()
    const [used, late] = [await requested(otto), await requested(otto)]
    const answers = await Promise.all([approve(alice, used.id), approve(alice, used.id)])
    expect(answers.filter(({ body }) => body.code !== undefined)).toHaveLength(1)
    for (const id of [used.id, `${used.id}x`, '', undefined, null, {}, ['x']]) {
      expect((await approve(alice, id).expect(200)).body).toEqual({})
    }
    clock.move(HOUR)
    expect((await approve(await signInByApp(made, 'alice'), late.id).expect(200)).body).toEqual({})
    expect(made.told('account_reset')).toHaveLength(1)
  })

  it('needs a strong factor of the last five minutes from both, as actAs does', async () => {
    const clock = stopClock()
    const { otto, alice } = await open()
    const { id } = await requested(otto)
    clock.move(5 * MINUTE)
    await otto.post('/admin/request').send({}).expect(500, { failed: 'ERR_MFA_ACTING' })
    await approve(alice, id).expect(500, { failed: 'ERR_MFA_ACTING' })
    await approve(await signIn(made.app, 'alice'), id).expect(401)
    await approve(jsonAgent(made.app), id).expect(401)
    const acting = await signInByApp(made, 'alice')
    await acting.post('/act/otto').expect(200)
    await approve(acting, id).expect(500, { failed: 'ERR_MFA_ACTING' })
    expect(made.told('account_reset')).toEqual([])
    expect((await approve(await signInByApp(made, 'alice'), id).expect(200)).body.code).toBeDefined()
  })

  it('says at the request what is wrong with it', async () => {
    const { otto } = await open()
    for (const wrong of [{ reason: '' }, { reason: 7 }, { factors: ['unknown'] }]) {
      expect((await otto.post('/admin/request').send(wrong)).status).toBe(500)
    }
    expect(made.failures.map(String)).toEqual([
      expect.stringContaining('TypeError: account.requestReset: reason must be text'),
      expect.stringContaining('TypeError: account.requestReset: reason must be text'),
      expect.stringContaining('no factor with the id unknown'),
    ])
  })
})

describe('the second approver that the host names itself (approvedBy)', () => {
  it('is no other person by letters that look alike or cannot be seen, and is warned about', async () => {
    const warnings: string[] = []
    made = helpDesk({
      options: {
        recovery: { requireTwoApprovers: true } as never,
        logger: { warn: (message) => void warnings.push(String(message)), error: () => {} },
      },
    })
    const { bob } = made.users
    if (!bob) throw new Error('expected bob')
    for (const approvedBy of [
      'ѕtaff',
      'staff\u200B',
      'ｓtaff',
      'stаff',
      'ŝtaff',
      'st\u00ADaff',
      'ѕtаff\u2060',
    ]) {
      await expect(
        made.account.reset(bob, { by: 'staff', approvedBy, reason: 'lost phone' }),
      ).rejects.toMatchObject({ code: 'ERR_MFA_RESET_APPROVAL' })
    }
    await made.account.reset(bob, { by: 'staff', approvedBy: 'chief', reason: 'lost phone' })
    expect(warnings.filter((message) => message.includes('MFA_WARN_APPROVED_BY'))).toHaveLength(1)
  })
})
