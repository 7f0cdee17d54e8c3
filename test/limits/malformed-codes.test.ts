import { describe, expect, it } from 'vitest'
import { httpService } from '../../src/client/service.js'
import type { ServiceAddress } from '../../src/options/service.js'
import { readServiceAddress } from '../../src/options/settings.js'
import { COUNTERSIGN_CODES } from '../../src/protocol/wire.js'
import { approveChange, byStandIn } from '../kit/approved-change.js'
import { everyCase } from '../kit/every-case.js'
import { browserAgent, type Host, host, signIn, signInFully } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'
import { standInService } from '../kit/stand-in-service.js'

/** A host whose service says what its codes look like. */
function told() {
  const standIn = standInService()
  return host({ standIn, options: { service: { ...standIn.service, codes: COUNTERSIGN_CODES } } })
}

/** A pending login of bob with a text message. */
async function challenged(made: Host) {
  const agent = await signIn(made.app, 'bob')
  await challenge(agent, 'sms').expect(200)
  return agent
}

const NO_DELIVERED_CODES = [
  '1',
  '12',
  '12345',
  '12345678901',
  'abcdef',
  '12345a',
  '12345o',
  'AAAABBBBCCCCDDDD',
  '💥💥💥💥💥💥',
]
const NO_BACKUP_CODES = ['123456', 'AAAA-BBB', '!'.repeat(16)]

describe('a code that cannot be right', () => {
  it('costs no attempt and no call, however often it is sent', async () => {
    const made = told()
    const agent = await challenged(made)
    await everyCase(NO_DELIVERED_CODES, async (code) => {
      const { body } = await verify(agent, code).expect(400)
      expect(body).toMatchObject({ code: 'malformed_code' })
      expect(body).not.toHaveProperty('attemptsLeft')
    })
    await everyCase(NO_DELIVERED_CODES, (code) => verify(agent, code).expect(400))
    expect(made.standIn.count('verify')).toBe(0)
    expect((await verify(agent, '000000').expect(401)).body).toMatchObject({
      code: 'invalid_code',
      attemptsLeft: 4,
    })
    await verify(agent, made.standIn.newestCode()).expect(200)
  })

  it('is refused on the page, which keeps the factor and says that nothing was counted', async () => {
    const made = told()
    const browser = browserAgent(made.app)
    await login(browser, 'alice').expect(200)
    await challenge(browser, 'sms').type('form').expect(303)
    const answer = await verify(browser, '12', { factor: 'sms' }).type('form').expect(303)
    expect(answer.headers.location).toBe('/mfa/verify?factor=sms&refused')
    const page = await browser.get('/mfa/verify?factor=sms&refused').expect(200)
    expect(page.text).toContain('This code is not complete')
    expect(page.text).toContain('aria-invalid="true"')
    expect(made.standIn.count('verify')).toBe(0)
  })

  it('is one of an authenticator app and of backup codes by their own shapes', async () => {
    const made = told()
    made.standIn.setApp('otto@example.com', '123456')
    const otto = await signIn(made.app, 'otto')
    await everyCase(['12345', '123456789', '12345a'], (code) =>
      verify(otto, code, { factor: 'app' }).expect(400),
    )
    await verify(otto, '123456', { factor: 'app' }).expect(200)
    const bob = await signInFully(made, 'bob')
    await bob.post('/mfa/backup').send({}).expect(200)
    const again = await signIn(made.app, 'bob')
    const before = made.standIn.count('verify')
    await everyCase(NO_BACKUP_CODES, (code) => verify(again, code, { factor: 'backup' }).expect(400))
    expect(made.standIn.count('verify')).toBe(before)
    await verify(again, 'oil0-oil0-oil0-oil0', { factor: 'backup' }).expect(401)
    expect(made.standIn.calls.at(-1)?.request).toMatchObject({ code: '0110011001100110' })
    await verify(again, 'aaaa-bbbb-cccc-dddd', { factor: 'backup' }).expect(200)
  })

  it('is refused for the first code of a new app, too', async () => {
    const made = told()
    const agent = await signInFully(made, 'bob')
    await approveChange(agent, '/mfa/enroll-app', byStandIn(made, agent))
    await agent.post('/mfa/enroll-app').send({}).expect(200)
    const { body } = await agent.post('/mfa/enroll-app/confirm').send({ code: '1234' }).expect(400)
    expect(body).toMatchObject({ code: 'malformed_code' })
    await agent.post('/mfa/enroll-app/confirm').send({ code: '123456' }).expect(200)
  })

  it('does not count towards a lock or a notice of repeated failures', async () => {
    const made = told()
    const agent = await challenged(made)
    for (let tries = 0; tries < 30; tries++) await verify(agent, '12345').expect(400)
    await verify(agent, made.standIn.newestCode()).expect(200)
  })
})

describe('a code that could be right', () => {
  it('is read with spaces, dashes and the digits of any script', () =>
    everyCase(
      [
        (code: string) => ` ${code.slice(0, 3)} ${code.slice(3)} `,
        (code: string) => `${code.slice(0, 3)}-${code.slice(3)}`,
        inScript(0xff10), // full-width
        inScript(0x0660), // Arabic-Indic
        inScript(0x06f0), // Persian
        inScript(0x0966), // Devanagari
      ],
      async (typed) => {
        const made = told()
        const agent = await challenged(made)
        await verify(agent, typed(made.standIn.newestCode())).expect(200)
      },
    ))

  it('always costs an attempt, so guesses stay bounded', async () => {
    const made = told()
    const agent = await challenged(made)
    for (let left = 4; left >= 0; left--) {
      await verify(agent, '12').expect(400)
      expect((await verify(agent, `00000${left}`)).body).toMatchObject({ attemptsLeft: left })
    }
    expect((await verify(agent, '000009')).body.code).toBe('challenge_exhausted')
    expect(made.standIn.count('verify')).toBe(5)
  })

  it('costs an attempt in any shape where the service says none', async () => {
    const made = host()
    const agent = await challenged(made)
    expect((await verify(agent, '12').expect(401)).body).toMatchObject({
      code: 'invalid_code',
      attemptsLeft: 4,
    })
    expect(made.standIn.count('verify')).toBe(0)
  })
})

describe('the shape of codes', () => {
  it('is known of the Countersign service alone', () => {
    const codesOf = (dialect?: ServiceAddress['dialect']) => {
      const address = { baseUrl: 'https://mfa.example.com', apiKey: 'key-of-the-tests-0123456789' }
      return httpService(readServiceAddress({ ...address, ...(dialect && { dialect }) })).codes
    }
    expect(codesOf()).toEqual(COUNTERSIGN_CODES)
    expect(codesOf('countersign')).toEqual(COUNTERSIGN_CODES)
    expect(codesOf('published')).toBeUndefined()
    expect(codesOf({ extras: true })).toBeUndefined()
  })
})

/** Writes a code with the digits of a script, whose zero is given. */
function inScript(zero: number) {
  return (code: string) => code.replace(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)))
}
