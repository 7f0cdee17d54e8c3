import { describe, expect, it } from 'vitest'
import type { FactorInput, MfaEvent } from '../../src/index.js'
import type { RecordedFactors } from '../../src/protocol/factor.js'
import type { MfaService } from '../../src/protocol/index.js'
import { MINUTE, stopClock } from '../kit/clock.js'
import { everyCase } from '../kit/every-case.js'
import { browserAgent, host, signIn, signInFully } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'
import { standInService } from '../kit/stand-in-service.js'
import { itWithSession } from '../kit/transports.js'

const AT = Date.UTC(2027, 2, 1)

/** A host that keeps its own record of apps, with a service that removes factors. */
function removing({ withCallback = true, verb = true } = {}) {
  const standIn = standInService()
  const has = { app: true, backup: true }
  const down = { now: undefined as (() => Promise<void>) | undefined }
  const service: MfaService = {
    ...standIn.service,
    factorsOf: async () => ({
      existing: has.app ? [{ method: 'app', usable: true }] : [],
      backupCodesLeft: has.backup ? 7 : 0,
      lastUsed: [
        { type: 'APP', at: AT },
        { type: 'BACKUP', at: AT },
      ],
    }),
    ...(verb && {
      async removeFactor({ factor, ...request }) {
        standIn.calls.push({ verb: 'removeFactor', request })
        await down.now?.()
        const outcome = has[factor] ? 'removed' : 'none'
        has[factor] = false
        return { outcome }
      },
    }),
  }
  const events: MfaEvent[] = []
  const notices: { readonly type: string; readonly to?: string; readonly text: string }[] = []
  const removed: string[] = []
  const record = { isDown: false, of: new Map<string, RecordedFactors>() }
  const made = host({
    standIn,
    options: {
      service,
      onEvent: (event) => void events.push(event),
      notices: { onNotice: (_user, notice) => void notices.push(notice) },
      trustedDevices: { store: 'memory' },
      ...(withCallback && {
        recordedFactors: ({ id }) => record.of.get(id),
        onFactorsChanged: (user, factors) => {
          if (record.isDown) throw new Error('the database of the host is down')
          record.of.set(user.id, factors)
          if (factors.app) return
          removed.push(user.email)
          const rest = user.factors.filter((factor: FactorInput) => factor.method !== 'app')
          user.factors.splice(0, Infinity, ...rest)
        },
      }),
    },
  })
  const types = () => events.map(({ type }) => type)
  return { ...made, has, down, events, types, notices, removed, record }
}

/** A browser in which alice has just used her app. */
async function aliceIn(made: ReturnType<typeof removing>, factor = 'app') {
  const agent = browserAgent(made.app)
  made.standIn.setApp('alice@example.com', '424242')
  await login(agent, 'alice').set('Accept', 'application/json').expect(200)
  if (factor !== 'app') await challenge(agent, factor).type('form').expect(303)
  const code = factor === 'app' ? '424242' : made.standIn.newestCode()
  await verify(agent, code, { factor }).type('form').expect(303)
  return agent
}

const post = (agent: ReturnType<typeof browserAgent>, path: string) => agent.post(path).type('form').send({})

describe('removing the authenticator app', () => {
  it('says first what is asked for afterwards and what then is enough to change factors, and changes nothing', async () => {
    const made = removing()
    const agent = await aliceIn(made)
    const overview = (await agent.get('/mfa').expect(200)).text
    expect(overview).toContain('href="/mfa/enroll-app/remove"')
    expect(overview).toContain('href="/mfa/backup/remove"')
    const page = (await agent.get('/mfa/enroll-app/remove').expect(200)).text
    expect(page).toContain('Remove your authenticator app?')
    expect(page).toContain('a…e@example.com')
    expect(page).toContain('A code sent to your phone number is then enough to change these settings.')
    expect(page).toContain('All trusted browsers will be removed, too.')
    expect(page).toMatch(/href="\/mfa">Cancel/)
    expect(made.standIn.count('removeFactor')).toBe(0)
  })

  it('removes it behind a fresh strongest factor, with event, notice and the record of the host (R47, R92)', async () => {
    const made = removing()
    const agent = await aliceIn(made)
    await post(agent, '/mfa/enroll-app/remove').expect(303).expect('Location', '/mfa?removed=app')
    const page = (await agent.get('/mfa?removed=app').expect(200)).text
    expect(page).toContain('Your authenticator app was removed.')
    expect(page).not.toContain('/mfa/enroll-app/remove')
    expect(made.removed).toEqual(['alice@example.com'])
    expect(made.events.filter(({ type }) => type === 'factor_removed')).toMatchObject([
      { userId: 'u-ali', method: 'app' },
    ])
    expect(made.notices).toMatchObject([{ type: 'factor_removed', method: 'app', to: 'a…e@example.com' }])
  })

  it('refuses a weaker factor, and asks for the app with a way back (R92)', async () => {
    const made = removing()
    const agent = await aliceIn(made, 'email')
    await agent.get('/mfa/enroll-app/remove').expect(303).expect('Location', '/mfa')
    await post(agent, '/mfa/enroll-app/remove').expect(303).expect('Location', '/mfa')
    const { body } = await post(agent, '/mfa/enroll-app/remove').set('Accept', 'application/json').expect(401)
    expect(body).toMatchObject({ code: 'step_up_required', factors: [{ id: 'app' }] })
    expect(made.standIn.count('removeFactor')).toBe(0)
    await verify(agent, '424242', { factor: 'app' })
      .type('form')
      .expect(303)
      .expect('Location', '/mfa/enroll-app/remove')
  })

  it('refuses a factor that is five minutes old, and a user without the second factor (R92)', async () => {
    const clock = stopClock()
    const made = removing()
    const pending = await signIn(made.app, 'alice')
    expect((await pending.post('/mfa/enroll-app/remove').send({}).expect(401)).body.code).toBe('mfa_required')
    const agent = await signInFully(made, 'alice')
    clock.move(5 * MINUTE)
    const { body } = await agent.post('/mfa/backup/remove').send({}).expect(401)
    expect(body.code).toBe('step_up_required')
    expect(made.standIn.count('removeFactor')).toBe(0)
  })

  itWithSession(
    'happens once when two requests race, and a browser gets the factor page for both',
    async () => {
      const made = removing()
      const agent = await signInFully(made, 'alice')
      const answers = await Promise.all([1, 2].map(() => agent.post('/mfa/enroll-app/remove').send({})))
      expect(answers.map(({ body }) => body.code ?? body.status).sort()).toEqual([
        'removed',
        'unknown_factor',
      ])
      expect(made.types().filter((type) => type === 'factor_removed')).toHaveLength(1)
      expect(made.notices).toHaveLength(1)
      const late = agent.post('/mfa/enroll-app/remove').set('Accept', 'text/html').type('form').send({})
      // The app that was just used is stronger than the factors that are left.
      await late.expect(303).expect('Location', '/mfa?removed=app')
    },
  )

  it('changes nothing while the service is down (503)', async () => {
    const made = removing()
    const agent = await signInFully(made, 'alice')
    made.down.now = made.standIn.down
    const { body } = await agent.post('/mfa/enroll-app/remove').send({}).expect(503)
    expect(body.code).toBe('service_unavailable')
    expect(made.removed).toEqual([])
    expect(made.notices).toEqual([])
    expect(made.types()).not.toContain('factor_removed')
    made.down.now = undefined
    await agent.post('/mfa/enroll-app/remove').send({}).expect(200, { status: 'removed' })
  })

  it('notifies the user also if the record of the host fails, which follows at the next sign-in', async () => {
    const made = removing()
    const agent = await signInFully(made, 'alice')
    made.record.isDown = true
    await agent.post('/mfa/enroll-app/remove').send({}).expect(200)
    expect(made.notices).toMatchObject([{ type: 'factor_removed' }])
    expect(made.removed).toEqual([])
    made.record.isDown = false
    await signIn(made.app, 'alice')
    await expect.poll(() => made.removed).toEqual(['alice@example.com'])
  })
})

describe('removing the backup codes', () => {
  it('asks first, then removes all, with event and notice', async () => {
    const made = removing()
    const agent = await aliceIn(made)
    const page = (await agent.get('/mfa/backup/remove').expect(200)).text
    expect(page).toContain('Remove your backup codes?')
    expect(page).not.toContain('mailbox to sign in')
    await post(agent, '/mfa/backup/remove').expect(303).expect('Location', '/mfa?removed=backup')
    const overview = (await agent.get('/mfa?removed=backup').expect(200)).text
    expect(overview).toContain('Your backup codes were removed.')
    expect(overview).not.toContain('/mfa/backup/remove')
    expect(made.events).toContainEqual(expect.objectContaining({ type: 'factor_removed', method: 'backup' }))
    expect(made.notices).toMatchObject([{ type: 'backup_codes_removed' }])
    expect(made.removed).toEqual([])
  })
})

describe('a factor page that cannot remove factors', () => {
  it('offers nothing if it cannot be removed', () =>
    everyCase(
      [
        ['the service has no such function', { verb: false }, ['app', 'backup']],
        ['the host lists the app and has no onFactorsChanged', { withCallback: false }, ['app']],
      ] as const,
      async ([_why, setup, missing]) => {
        const made = removing(setup)
        const agent = await aliceIn(made)
        const overview = (await agent.get('/mfa').expect(200)).text
        for (const factor of missing) {
          const path = factor === 'app' ? '/mfa/enroll-app/remove' : '/mfa/backup/remove'
          expect(overview).not.toContain(path)
          await agent.get(path).expect(303).expect('Location', '/mfa')
          const answer = await post(agent, path).set('Accept', 'application/json').expect(403)
          expect(answer.body.code).toBe('method_off')
        }
        expect(made.standIn.count('removeFactor')).toBe(0)
      },
    ))

  it('refuses other methods, and a user without a factor', async () => {
    const made = removing()
    made.has.app = false
    const nina = await signIn(made.app, 'nina')
    for (const path of ['/mfa/enroll-app/remove', '/mfa/backup/remove']) {
      await nina.put(path).expect(405).expect('Allow', 'GET, HEAD, POST')
      expect((await nina.post(path).send({}).expect(404)).body.code).toBe('unknown_factor')
    }
  })
})

describe('when backup codes were last used', () => {
  it('is on the factor page beside their number, and in the MFA status of a verified session', async () => {
    const made = removing()
    const agent = await aliceIn(made)
    const overview = (await agent.get('/mfa').expect(200)).text
    expect(overview).toMatch(/7 backup codes left\.<\/span><span class="mfa-hint">Last used March 1, 2027/)
    const { body } = await agent.get('/mfa').set('Accept', 'application/json').expect(200)
    const lastUsedAt = '2027-03-01T00:00:00.000Z'
    expect(body.backupCodes).toEqual({ left: 7, lastUsedAt })
    expect(body.factors[0]).toMatchObject({ id: 'app', lastUsedAt })
    const pending = await signIn(made.app, 'alice')
    const { body: before } = await pending.get('/mfa').expect(200)
    expect(before).not.toHaveProperty('backupCodes')
    expect(JSON.stringify(before)).not.toContain('lastUsedAt')
  })
})
