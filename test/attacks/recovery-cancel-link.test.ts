import { describe, expect, it } from 'vitest'
import { browserAgent, jsonAgent } from '../kit/host.js'
import { recoveringHost, requestRecovery, tokenIn } from '../recovery/kit.js'

describe('an attacker with a link of an earlier recovery (R94)', () => {
  it('cannot use it twice, nor another link of the same recovery after the first', async () => {
    const made = recoveringHost()
    await requestRecovery(made)
    const [token = '', other = ''] = made.sent.map(({ notice }) => tokenIn(notice))
    const agent = jsonAgent(made.app)
    await agent.post('/mfa/cancel-recovery').send({ token }).expect(200)
    for (const used of [token, other]) {
      expect((await agent.post('/mfa/cancel-recovery').send({ token: used }).expect(404)).body.code).toBe(
        'unknown_link',
      )
      await agent.get(`/mfa/cancel-recovery?token=${used}`).expect(404)
    }
  })

  it('cannot cancel a later recovery with it', async () => {
    const made = recoveringHost()
    const { agent: owner } = await requestRecovery(made)
    const old = tokenIn(made.newest('recovery_requested'))
    await owner.post('/mfa/recover/cancel').send({}).expect(200)
    await owner.post('/mfa/recover').send({}).expect(200)
    await jsonAgent(made.app).post('/mfa/cancel-recovery').send({ token: old }).expect(404)
    expect((await owner.get('/mfa/recover')).body.status).toBe('waiting')
  })
})

describe('an attacker without a link (R94)', () => {
  it('cannot guess or forge one', async () => {
    const made = recoveringHost()
    const { agent: owner } = await requestRecovery(made)
    const token = tokenIn(made.newest('recovery_requested'))
    const [id, secret = ''] = token.split('.')
    const guesses = [
      '',
      'x',
      id,
      `${id}.`,
      `${id}.${'A'.repeat(43)}`,
      `${'A'.repeat(22)}.${secret}`,
      `${token}A`,
    ]
    for (const guess of guesses) {
      const { status } = await jsonAgent(made.app).post('/mfa/cancel-recovery').send({ token: guess })
      expect([400, 404]).toContain(status)
    }
    await jsonAgent(made.app)
      .post('/mfa/cancel-recovery')
      .send({ token: { $ne: '' } })
      .expect(400)
    expect((await owner.get('/mfa/recover')).body.status).toBe('waiting')
  })

  it('cannot have a browser cancel it from another site, nor a mail scanner by opening the link', async () => {
    const made = recoveringHost()
    const { agent: owner } = await requestRecovery(made)
    const token = tokenIn(made.newest('recovery_requested'))
    const scanner = browserAgent(made.app)
    await scanner.get(`/mfa/cancel-recovery?token=${token}`).expect(200)
    await scanner.head(`/mfa/cancel-recovery?token=${token}`).expect(200)
    await scanner
      .post('/mfa/cancel-recovery')
      .set('Sec-Fetch-Site', 'cross-site')
      .type('form')
      .send({ token })
      .expect(403)
    expect((await owner.get('/mfa/recover')).body.status).toBe('waiting')
  })

  it('finds no link that points to a host of their own', async () => {
    const made = recoveringHost()
    const { agent } = await requestRecovery(made)
    await agent.post('/mfa/recover/cancel').send({}).expect(200)
    await agent
      .post('/mfa/recover')
      .set('Host', 'evil.example')
      .set('X-Forwarded-Host', 'evil.example')
      .send({})
    for (const { notice } of made.sent) expect(notice.text).not.toContain('evil.example')
  })
})
