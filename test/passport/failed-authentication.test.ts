import express from 'express'
import { describe, expect, it } from 'vitest'
import { everyCase } from '../kit/every-case.js'
import { host, jsonAgent } from '../kit/host.js'
import { publishedService } from '../kit/published-service.js'
import { challenge, login, verify } from '../kit/sign-in.js'

type Agent = ReturnType<typeof jsonAgent>

/** Every way to send a code, and whether its answer reports a failed authentication. */
const WAYS: readonly (readonly [string, (agent: Agent) => Promise<boolean>])[] = [
  ['a page', async (agent) => (await failedPage(agent)).includes('Wrong code')],
  ['JSON', async (agent) => (await verify(agent, '123456')).body.code === 'invalid_code'],
  ['a verify route of the host', (agent) => hasFailure(agent, '/mfa-login')],
  ['a login route of the host', (agent) => hasFailure(agent, '/login/both')],
]

/** Whether Passport redirects to `failureRedirect` and says that the code was wrong. A locked account is another message. */
async function hasFailure(agent: Agent, path: string): Promise<boolean> {
  const { headers } = await agent.post(path).send({ name: 'bob', code: '123456' })
  const { body } = await agent.get('/messages')
  return headers.location === '/failed' && body.at(-1) === 'The code is wrong.'
}

async function failedPage(agent: Agent): Promise<string> {
  const html = 'text/html'
  const { text, headers } = await verify(agent, '123456').set('Accept', html).type('form')
  return headers.location ? (await agent.get(headers.location).set('Accept', html)).text : text
}

async function published() {
  const service = await publishedService()
  const made = host({
    options: { service: service.address, login: { pendingPaths: ['/messages'] } },
    routes: (app, _mfa, auth) => {
      const mfa = auth.authenticate('mfa', { failureRedirect: '/failed', failureMessage: true })
      app.get('/messages', (req, res) => void res.json(Reflect.get(req.session, 'messages') ?? []))
      app.post('/mfa-login', mfa, (_req, res) => void res.json({}))
      app.post(
        '/login/both',
        express.json(),
        auth.authenticate('name'),
        mfa,
        (_req, res) => void res.json({}),
      )
    },
  })
  return { ...made, ...service }
}

interface ServiceAnswer {
  readonly status: number
  readonly body?: object
}

/** A user who was sent a code, and a service that gives this answer to whatever they type. */
async function challenged({ status, body }: ServiceAnswer) {
  const made = await published()
  const agent = jsonAgent(made.app)
  await login(agent, 'bob').expect(200)
  await challenge(agent, 'sms').expect(200)
  Object.assign(made.state, { verifyStatus: status, verifyBody: body })
  return { made, agent }
}

/** Answers that refuse a code: the published one, and 200 with a body that denies the status (R75). */
const REFUSALS = [
  { status: 401 },
  { status: 200, body: { valid: false } },
  { status: 200, body: { status: 'expired' } },
]

/** Every other answer. */
const FAILURES = [
  ...[204, 302, 400, 403, 404, 409, 422, 429, 500, 503].map((status) => ({ status })),
  { status: 200, body: { valid: 'perhaps' } },
  { status: 200, body: { error: 'internal' } },
]

/** Each of these answers, for every way to send a code. */
const allOf = (answers: readonly ServiceAnswer[]) =>
  WAYS.flatMap((way) => answers.map((answer) => ({ way, ...answer })))

describe('the answer of POST /v1/mfa/verify', () => {
  it('is a failed authentication with 401, or 200 and a denial, in pages, JSON and Passport, and consumes an attempt', () =>
    everyCase(allOf(REFUSALS), async ({ way: [, hasFailed], ...answer }) => {
      const { made, agent } = await challenged(answer)
      for (let attempt = 0; attempt < 4; attempt++) expect(await hasFailed(agent)).toBe(true)
      // After the fifth wrong code, a page says that the challenge is used up.
      await hasFailed(agent)
      expect(await hasFailed(agent)).toBe(false)
      expect(made.state.evaluated).toHaveLength(5)
      await agent.get('/secret').expect(401)
    }))

  it('is none with any other answer: the code still counts, and no attempt is lost', () =>
    everyCase(allOf(FAILURES), async ({ way: [, hasFailed], ...answer }) => {
      const { made, agent } = await challenged(answer)
      for (let attempt = 0; attempt < 3; attempt++) expect(await hasFailed(agent)).toBe(false)
      await agent.get('/secret').expect(401)
      Object.assign(made.state, { verifyStatus: undefined, verifyBody: undefined })
      const wrong = await verify(agent, '000000')
      if (wrong.body.code === 'invalid_code') expect(wrong.body.attemptsLeft).toBe(4)
      else expect(wrong.body.code).toBe('service_unavailable')
    }))
})
