import { describe, expect, it } from 'vitest'
import type { MfaService } from '../../src/index.js'
import { SECOND, stopClock } from '../kit/clock.js'
import { everyCase } from '../kit/every-case.js'
import { browserAgent, type Host, host, signIn, signInFully } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'
import { standInService } from '../kit/stand-in-service.js'
import { itWithSession } from '../kit/transports.js'

const OFFERED = 'Use a backup code'
const ASKED = 'Do you have a backup code?'

/** A host whose service says how many backup codes a user has. */
function withCount(factorsOf: MfaService['factorsOf']) {
  const standIn = standInService()
  return host({ standIn, options: { service: { ...standIn.service, ...(factorsOf && { factorsOf }) } } })
}

/** A service that answers pages in this way. The question whether a user needs a factor comes without a language. */
const forPages =
  (factorsOf: NonNullable<MfaService['factorsOf']>): MfaService['factorsOf'] =>
  async (request) =>
    request.locale === undefined ? { existing: [], backupCodesLeft: 0 } : factorsOf(request)

/** The pages on which a user chooses another factor: the choice, and the help below a code. */
async function pagesOf(made: Pick<Host, 'app'>, name = 'bob') {
  const browser = browserAgent(made.app)
  await login(browser, name).type('form').expect(200)
  const choice = await browser.get('/mfa?choose').expect(200)
  await challenge(browser, 'sms').type('form').expect(303)
  return { browser, choice: choice.text, help: (await browser.get('/mfa/verify').expect(200)).text }
}

describe('a backup code', () => {
  it('is offered to a user who has some according to the service', async () => {
    const { choice, help } = await pagesOf(withCount(async () => ({ existing: [], backupCodesLeft: 7 })))
    for (const page of [choice, help]) expect(page).toContain(OFFERED)
    for (const page of [choice, help]) expect(page).not.toContain(ASKED)
  })

  it('is not offered to a user who has none according to the service', async () => {
    const { choice, help } = await pagesOf(withCount(async () => ({ existing: [], backupCodesLeft: 0 })))
    for (const page of [choice, help]) expect(page).not.toMatch(/backup code/i)
  })

  it('is only asked about if the service can tell, and can be used then', () =>
    everyCase<[string, MfaService['factorsOf']]>(
      [
        ['cannot say', undefined],
        ['fails', forPages(() => Promise.reject(new Error('down for the test')))],
        ['does not answer', forPages(() => new Promise(() => {}))],
      ],
      async ([_, factorsOf]) => {
        const { browser, choice, help } = await pagesOf(withCount(factorsOf))
        for (const page of [choice, help]) expect(page).not.toContain(OFFERED)
        for (const page of [choice, help]) expect(page).toContain(ASKED)
        const entry = await browser.get('/mfa/verify?factor=backup').expect(200)
        expect(entry.text).toContain('name="code"')
      },
    ))

  it('is asked about once for the pages of half a minute, and anew when codes were used', async () => {
    const clock = stopClock()
    const asked: string[] = []
    let left = 1
    const made = withCount(
      forPages(async ({ account = '' }) => {
        asked.push(account)
        return { existing: [], backupCodesLeft: left }
      }),
    )
    await (await signInFully(made, 'bob')).post('/mfa/backup').send({}).expect(200)
    asked.length = 0
    const { browser } = await pagesOf(made)
    expect(asked).toHaveLength(1)
    clock.move(30 * SECOND)
    expect((await browser.get('/mfa/verify').expect(200)).text).toContain(OFFERED)
    expect(asked).toHaveLength(2)
    left = 0
    await verify(await signIn(made.app, 'bob'), 'AAAABBBBCCCCDDDD', { factor: 'backup' }).expect(200)
    expect((await pagesOf(made)).choice).not.toMatch(/backup code/i)
  })

  it('is offered from the time that the plugin requested codes until the last one is used', async () => {
    const made = host()
    await (await signInFully(made, 'bob')).post('/mfa/backup').send({}).expect(200)
    expect((await pagesOf(made)).choice).toContain(OFFERED)
    for (const code of ['AAAABBBBCCCCDDDD', 'EEEEFFFFGGGGHHHH']) {
      await verify(await signIn(made.app, 'bob'), code, { factor: 'backup' }).expect(200)
    }
    expect((await pagesOf(made)).choice).not.toMatch(/backup code/i)
  })
})

describe('a hint about security', () => {
  itWithSession('compares a factor with an authenticator app only where the user has one', async () => {
    const compared = 'Less secure than an authenticator app'
    const overviewOf = async (name: string) => {
      const browser = await signInFully(host(), name)
      return (await browser.get('/mfa').set('Accept', 'text/html').expect(200)).text
    }
    expect(await overviewOf('bob')).not.toContain(compared)
    expect(await overviewOf('alice')).toContain(compared)
  })

  it('calls an email the least secure factor only where there is another', async () => {
    const made = host({ options: { factors: ({ email }) => [{ method: 'email', email }] } })
    const browser = await signInFully(made, 'bob', 'email')
    expect((await browser.get('/mfa').set('Accept', 'text/html').expect(200)).text).not.toContain(
      'Least secure',
    )
  })
})

describe('the link to all options', () => {
  it('leads to another page, and is absent where there is nothing else to choose', async () => {
    const bob = await pagesOf(host())
    expect(bob.help).not.toContain('See all options')
    const alice = await pagesOf(host(), 'alice')
    const [, href = ''] = /href="([^"]+)">See all options/.exec(alice.help) ?? []
    const choice = await alice.browser.get(href).expect(200)
    expect(choice.text).toContain('<h1>Confirm it’s you</h1>')
  })
})
