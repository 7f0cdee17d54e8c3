import { describe, expect, it } from 'vitest'
import type { AccountNotice } from '../../src/index.js'
import type { NoticeContact } from '../../src/options/recovery.js'
import { DAY, HOUR, MINUTE, stopClock } from '../kit/clock.js'
import { browserAgent, jsonAgent } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'
import { recoveringHost, signInBy, twoProcesses } from '../recovery/kit.js'

const PHONE = '+447700900101'

/** A host whose text messages fail while `fails` is true. */
function withoutTexts(build: typeof recoveringHost = recoveringHost) {
  const state = { fails: true }
  const made = build({
    options: {
      recovery: {
        onNotice: ({ channel }: NoticeContact) =>
          channel === 'phone' && state.fails ? Promise.reject(new Error('no gateway')) : undefined,
      } as never,
    },
  })
  return { made, state }
}

describe('an attacker who requests a recovery while the owner cannot be notified at a contact (R94)', () => {
  it('waits twice as long, and the contact is named', async () => {
    const clock = stopClock()
    const { made, state } = withoutTexts()
    const { agent } = await signInBy(made, 'alice')
    const { body } = await agent.post('/mfa/recover').send({}).expect(200)
    expect(body).toEqual({
      status: 'waiting',
      readyAt: new Date(Date.now() + 2 * DAY).toISOString(),
      expiresAt: new Date(Date.now() + 5 * DAY).toISOString(),
      unreached: ['••• 01'],
    })
    expect((await agent.get('/mfa/recover').expect(200)).body).toEqual(body)
    expect(made.told('recovery_requested')).toMatchObject([{ readyAt: Date.now() + 2 * DAY }])
    state.fails = false
    clock.move(24 * HOUR)
    expect(await made.sendDueNotices()).toBe(1)
    const early = await signInBy(made, 'alice')
    await early.agent.post('/mfa/recover/complete').send({}).expect(409)
    clock.move(24 * HOUR - 1)
    await (await signInBy(made, 'alice')).agent.post('/mfa/recover/complete').send({}).expect(409)
    clock.move(1)
    await (await signInBy(made, 'alice')).agent.post('/mfa/recover/complete').send({}).expect(200)
  })

  it('can be stopped by the owner who was reached until the end of the longer wait', async () => {
    const clock = stopClock()
    const links: string[] = []
    const made = recoveringHost({
      options: {
        recovery: {
          onNotice: ({ channel }: NoticeContact, { cancelUrl = '' }: AccountNotice) => {
            if (channel === 'phone') throw new Error('no gateway')
            links.push(cancelUrl)
          },
        } as never,
      },
    })
    const { agent } = await signInBy(made, 'alice')
    await agent.post('/mfa/recover').send({}).expect(200)
    clock.move(24 * HOUR)
    await made.sendDueNotices()
    clock.move(24 * HOUR + 3 * DAY - MINUTE)
    const token = new URL(links[0] ?? '').searchParams.get('token')
    await jsonAgent(made.app).post('/mfa/cancel-recovery').send({ token }).expect(200)
  })

  it('waits as long in another process', async () => {
    const clock = stopClock()
    const [made, other] = twoProcesses({
      options: {
        recovery: {
          onNotice: ({ channel }: NoticeContact) =>
            channel === 'phone' ? Promise.reject(new Error('no gateway')) : undefined,
        } as never,
      },
    })
    const { agent } = await signInBy(made, 'alice')
    await agent.post('/mfa/recover').send({}).expect(200)
    clock.move(12 * HOUR)
    expect(await other.sendDueNotices()).toBe(0)
    clock.move(12 * HOUR)
    expect(await other.sendDueNotices()).toBe(1)
    clock.move(12 * HOUR)
    const later = await signInBy(other, 'alice')
    expect((await later.agent.get('/mfa/recover')).body).toMatchObject({
      status: 'waiting',
      unreached: ['••• 01'],
    })
    await later.agent.post('/mfa/recover/complete').send({}).expect(409)
  })

  it('shows the owner which contact was not reached', async () => {
    stopClock()
    const { made } = withoutTexts()
    const browser = browserAgent(made.app)
    await login(browser, 'alice').type('form')
    await challenge(browser, 'email').type('form')
    await verify(browser, made.standIn.newestCode()).type('form').expect(303)
    await browser.post('/mfa/recover').type('form').send({}).expect(303)
    const { text } = await browser.get('/mfa/recover').expect(200)
    const [told = '', missed = ''] = text.split('We could not reach these contacts')
    expect(told).toContain('a…e@example.com')
    expect(told).not.toContain('01</')
    expect(missed).toContain('01</')
  })

  it('gains no time if a process stops while it sends the first notices', async () => {
    const clock = stopClock()
    const stopped = new Promise<never>(() => {})
    const [made, other] = twoProcesses({
      options: {
        recovery: {
          onNotice: ({ channel }: NoticeContact) => (channel === 'phone' ? stopped : undefined),
        } as never,
      },
    })
    const { agent } = await signInBy(made, 'alice')
    // The answer never comes; the request is left alone, as when its process stopped.
    agent
      .post('/mfa/recover')
      .send({})
      .end(() => {})
    const requestedAt = Date.now()
    const watching = await signInBy(other, 'alice')
    await expect.poll(async () => (await watching.agent.get('/mfa/recover')).body.status).toBe('waiting')
    clock.move(MINUTE)
    await expect
      .poll(async () => (await watching.agent.get('/mfa/recover')).body)
      .toMatchObject({
        status: 'waiting',
        readyAt: new Date(requestedAt + 2 * DAY).toISOString(),
        unreached: ['a…e@example.com', '••• 01'],
      })
  })
})

describe('a recovery of which every contact was notified (R94)', () => {
  it('names none and waits as long as the options say', async () => {
    stopClock()
    const made = recoveringHost()
    const { agent } = await signInBy(made, 'alice')
    const { body } = await agent.post('/mfa/recover').send({}).expect(200)
    expect(body).not.toHaveProperty('unreached')
    expect(made.toldContacts('recovery_requested')).toContain(PHONE)
  })
})
