import express from 'express'
import { describe, expect, it } from 'vitest'
import { requireMfa } from '../../src/index.js'
import { BILL, payments } from '../approvals/kit.js'
import { SECOND, stopClock } from '../kit/clock.js'
import { browserAgent } from '../kit/host.js'
import { login } from '../kit/sign-in.js'

/*
 * The page after a right code sends the approved form by itself. Another page leads the user's browser there, or the user comes back, and
 * nothing may be sent that the user did not just approve.
 */

type Made = ReturnType<typeof payments>
type Agent = ReturnType<typeof browserAgent>

/** A browser whose user has shown a factor. */
async function asBrowser(made: Made): Promise<Agent> {
  const agent = browserAgent(made.app)
  await login(agent, 'bob').type('form')
  await show(made, agent)
  return agent
}

/** Shows a code, for what the page asks to approve. */
async function show({ standIn }: Made, agent: Agent) {
  const { text } = await agent.get('/mfa').expect(200)
  const approval = /name="approval" value="([^"]+)"/.exec(text)?.[1]
  await agent.post('/mfa/challenge').type('form').send({ factor: 'sms', approval }).expect(303)
  const code = standIn.newestCode()
  await agent.post('/mfa/verify').type('form').send({ factor: 'sms', approval, code }).expect(303)
}

/** A browser whose user has approved a payment by the right code, and has not yet seen the page that it leads to. */
async function approved(...args: Parameters<typeof payments>) {
  const clock = stopClock()
  const made = payments(...args)
  const agent = await asBrowser(made)
  await agent.post('/pay').type('form').send(BILL).expect(303)
  await show(made, agent)
  return { ...made, agent, clock }
}

/** Whether the page of the form sends it by itself. */
async function sends(agent: Agent, headers: Record<string, string> = {}) {
  const { text } = await agent.get('/mfa/resume').set(headers).expect(200)
  expect(text).toContain('action="/pay"')
  return text.includes('data-mfa-send')
}

const FROM_CODE = { 'Sec-Fetch-Site': 'same-origin' }

describe('the page that sends an approved form by itself (R121, R122)', () => {
  it('does so once: not on Back, reload or in another tab', async () => {
    const { agent, done } = await approved()
    await agent.head('/mfa/resume').expect(200)
    expect(await sends(agent, FROM_CODE)).toBe(true)
    expect(await sends(agent, FROM_CODE)).toBe(false)
    await agent.post('/pay').type('form').send(BILL).expect(200)
    await agent.get('/mfa/resume').expect(303).expect('Location', '/')
    await agent.post('/pay').type('form').send(BILL).expect(303)
    expect(done).toHaveLength(1)
  })

  it('does not where another site leads to it, whose visit uses the mark up', async () => {
    for (const site of ['cross-site', 'same-site']) {
      const { agent } = await approved()
      expect(await sends(agent, { 'Sec-Fetch-Site': site })).toBe(false)
      expect(await sends(agent, FROM_CODE)).toBe(false)
    }
  })

  it('does not a minute later', async () => {
    const { agent, clock } = await approved()
    clock.move(60 * SECOND)
    expect(await sends(agent)).toBe(false)
  })

  it('does not for a form that was approved by no code', async () => {
    const made = payments({ maxAge: '30s', resume: ['amount', 'to'] })
    const clock = stopClock()
    const agent = await asBrowser(made)
    clock.move(30 * SECOND)
    await agent.post('/pay').type('form').send(BILL).expect(303)
    await show(made, agent)
    expect(await sends(agent)).toBe(false)
  })

  it('does not for an earlier form, if the code approved what a script asked for', async () => {
    const clock = stopClock()
    const made = payments(
      { maxAge: '30s', resume: ['amount', 'to'] },
      {
        routes: (app) => {
          app.post(
            '/send-money',
            express.json(),
            requireMfa({ bind: ['to'] }),
            (_req, res) => void res.json({}),
          )
        },
      },
    )
    const agent = await asBrowser(made)
    clock.move(30 * SECOND)
    await agent.post('/pay').type('form').send(BILL).expect(303)
    const script = { Accept: 'application/json' }
    await agent.post('/send-money').set(script).send({ to: 'ann' }).expect(401)
    await show(made, agent)
    expect(await sends(agent)).toBe(false)
  })

  it('does not for a form that was sent anew with other values', async () => {
    const { agent } = await approved()
    await agent
      .post('/pay')
      .type('form')
      .send({ ...BILL, to: 'mallory' })
      .expect(303)
    // The session asks for this one now.
    await agent.get('/mfa/resume').expect(303).expect('Location', '/mfa')
  })
})
