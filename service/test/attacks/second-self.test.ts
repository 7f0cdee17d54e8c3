import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from 'vitest'
import { optionsFor, startProvider, URL_OF_CONSOLE } from '../console/identity-provider.js'
import {
  findUser,
  openConsole,
  post,
  type SignedIn,
  type TestConsole,
  textOf,
  typeCode,
  typePassword,
} from '../console/kit.js'
import { advance, appCode, freshEmail, stopClock } from '../kit.js'

const OPERATORS = '/console/operators'
const CONSENTS = '/console/approvals'
const DAY = 24 * 3_600

beforeEach(() => stopClock())
afterEach(() => void vi.useRealTimers())

let provider: Awaited<ReturnType<typeof startProvider>>
beforeAll(async () => {
  provider = await startProvider()
})
afterAll(() => provider.close())

async function withFourEyes(options: object = { url: URL_OF_CONSOLE }): Promise<TestConsole> {
  const console = await openConsole({ fourEyes: true, ...options })
  onTestFinished(() => console.service.close())
  return console
}

/** An administrator of the company, who signs in at the provider. */
async function company(console: TestConsole, sub: string, verifiedEmail?: string): Promise<SignedIn> {
  const browser = console.open()
  const email = `${provider.issuer} ${sub}`
  const one = { browser, email, secret: verifiedEmail ?? '' }
  await signIn(one)
  return one
}

/** Signs in with both factors. */
async function signIn({ browser, email, secret }: SignedIn): Promise<void> {
  advance(60)
  const [issuer, sub = ''] = email.split(' ')
  if (issuer === provider.issuer) {
    const verified = secret && { email: secret, email_verified: true }
    provider.signsIn({ sub, amr: ['mfa'], claims: { groups: ['board'], ...verified } })
    return void (await browser.get(await provider.visit(browser)).expect(303))
  }
  await post(browser, '/console/sign-out')
  await typePassword(browser, email).expect(303)
  await typeCode({ browser, email, secret }).expect(303)
}

/** The changes that an operator makes to another one on the page of operators, with a fresh second factor. */
async function change(
  who: SignedIn,
  action: 'invite' | 'role' | 'reset' | 'disable' | 'revoke',
  fields: { readonly email: string; readonly role?: string },
) {
  await signIn(who)
  const { status, text } = await post(who.browser, `${OPERATORS}/${action}`, fields)
  const link =
    /class="once">https:\/\/console\.example(\/console\/invitation\/[\w-]{43})</.exec(text)?.[1] ?? ''
  return { status, text: textOf(text), link }
}

/** Asks for a user's app to be disabled; returns what `attempt` and `disabled` need. */
async function ask(console: TestConsole, who: SignedIn) {
  const contact = freshEmail()
  const app = await console.service.mfa.enrollApp({ contact })
  const secret = app.outcome === 'prepared' ? (app.secret ?? '') : ''
  await console.service.mfa.verify({ method: 'app', kind: 'confirm', code: appCode(secret), contact })
  await signIn(who)
  const user = await findUser(who.browser, contact.email)
  const asked = await post(who.browser, `${user}/disable`, { factor: 'app' })
  expect(textOf(asked.text)).toContain('Nothing is changed yet')
  const { application = '', id = '' } = await newest(console)
  return { application, id, email: contact.email }
}

async function newest(console: TestConsole) {
  const [request] = (await console.service.operator('test').consents.list()).slice(-1)
  return { application: request?.application ?? '', id: request?.id ?? '' }
}

/** The status of a consent with a fresh second factor. */
async function consent(who: SignedIn, { application, id }: { application: string; id: string }) {
  await signIn(who)
  return (await post(who.browser, `${CONSENTS}/approve`, { application, id })).status
}

async function isDisabled(console: TestConsole, { email }: { readonly email: string }) {
  const reference = { application: 'default', mode: 'live', user: email, isAccount: false } as const
  const { factors } = await console.service.operator('test').showUser(reference)
  return factors.some(({ disabled }) => disabled === 'by an operator')
}

/** Tries a change with two accounts of one person, one asking and the other consenting, in both directions. */
async function expectOnePerson(console: TestConsole, first: SignedIn, second: SignedIn): Promise<void> {
  for (const [asker, decider] of [
    [first, second],
    [second, first],
  ] as const) {
    const request = await ask(console, asker)
    expect([asker.email, decider.email, await consent(decider, request)]).toEqual([
      asker.email,
      decider.email,
      422,
    ])
    expect(await isDisabled(console, request)).toBe(false)
  }
}

async function expectTwoPersons(console: TestConsole, asker: SignedIn, decider: SignedIn): Promise<void> {
  const request = await ask(console, asker)
  expect(await consent(decider, request)).toBe(200)
  expect(await isDisabled(console, request)).toBe(true)
}

describe('an administrator with a second account and four eyes (R137)', () => {
  test('cannot consent with an account they invited, whichever of the two asks, weeks later too (R137)', async () => {
    const console = await withFourEyes()
    const ann = await console.signUp('admin')
    const { link } = await change(ann, 'invite', { email: 'second@example.com', role: 'support' })
    const second = await console.join(link, 'second@example.com')
    await expectOnePerson(console, ann, second)
    // Not longer: PGlite sets its timers by the clock, and one that is more than 24 days off fires each millisecond.
    advance(20 * DAY)
    await expectOnePerson(console, ann, second)
  })

  test('cannot consent through a chain of three invitations, nor between two of its links (R137)', async () => {
    const console = await withFourEyes()
    const ann = await console.signUp('admin')
    const chain = [ann]
    for (const email of ['b@example.com', 'c@example.com', 'd@example.com']) {
      const { link } = await change(chain.at(-1) ?? ann, 'invite', { email, role: 'admin' })
      chain.push(await console.join(link, email))
    }
    const [, b = ann, , d = ann] = chain
    await expectOnePerson(console, ann, d)
    await expectOnePerson(console, b, d)
  })

  test('cannot consent with two accounts that a third one invited, nor after that one is gone (R137)', async () => {
    const console = await withFourEyes()
    const ann = await console.signUp('admin')
    const others: SignedIn[] = []
    for (const email of ['b@example.com', 'c@example.com']) {
      const { link } = await change(ann, 'invite', { email, role: 'admin' })
      others.push(await console.join(link, email))
    }
    const [b = ann, c = ann] = others
    await expectOnePerson(console, b, c)
    await change(b, 'reset', { email: ann.email })
    await change(b, 'revoke', { email: ann.email })
    expect(await console.service.operator('test').listOperators()).toHaveLength(2)
    await expectOnePerson(console, b, c)
  })

  test('cannot consent with an account to which they gave a role (R137)', async () => {
    const console = await withFourEyes()
    const [ann, vic] = [await console.signUp('admin'), await console.signUp('viewer')]
    expect((await change(ann, 'role', { email: vic.email, role: 'support' })).status).toBe(200)
    await expectOnePerson(console, ann, vic)
  })

  test.each(['reset', 'disable'] as const)(
    'cannot consent with an account that got a new link from them after %s (R137)',
    async (first) => {
      const console = await withFourEyes()
      const [ann, sue] = [await console.signUp('admin'), await console.signUp('support')]
      let { link } = await change(ann, first, { email: sue.email })
      if (first === 'disable') link = (await change(ann, 'invite', { email: sue.email })).link
      await expectOnePerson(console, ann, await console.join(link, sue.email))
    },
  )

  test('makes no administrator, role or link alone where a second administrator exists (R137)', async () => {
    const console = await withFourEyes()
    const [ann, bob] = [await console.signUp('admin'), await console.signUp('admin')]
    const [sue, old] = [await console.signUp('support'), await console.signUp('admin')]
    await console.service.operator('test').disableOperator(old.email)
    const before = await console.service.operator('test').listOperators()
    const links = [
      (await change(ann, 'invite', { email: 'new@example.com', role: 'admin' })).link,
      (await change(ann, 'invite', { email: old.email })).link,
      (await change(ann, 'reset', { email: sue.email })).link,
    ]
    await change(ann, 'role', { email: sue.email, role: 'admin' })
    const after = await console.service.operator('test').listOperators()
    expect(after.map(({ email, role, state }) => [email, role, state])).toEqual(
      before.map(({ email, role, state }) => [email, role, state]),
    )
    for (const link of links.filter(Boolean)) {
      await console.open().get(link).expect(404)
      await post(console.open(), link, { password: 'x', again: 'x' }).expect(404)
    }
    const open = await console.service.operator('test').consents.list()
    expect(open.map(({ askedBy, deciders }) => [askedBy, deciders])).toEqual(
      open.map(() => [ann.email, [bob.email]]),
    )
    for (const { application, id } of open) expect(await consent(ann, { application, id })).toBe(422)
    await sue.browser.get('/console').expect(200)
  })

  test('gets the new operator that another administrator consented to, as one more account of theirs (R137)', async () => {
    const console = await withFourEyes()
    const [ann, bob] = [await console.signUp('admin'), await console.signUp('admin')]
    const { link } = await change(ann, 'invite', { email: 'new@example.com', role: 'admin' })
    expect(await consent(bob, await newest(console))).toBe(200)
    const carol = await console.join(link, 'new@example.com')
    await expectOnePerson(console, ann, carol)
    await expectTwoPersons(console, bob, carol)
    await expectTwoPersons(console, ann, bob)
  })

  test('cannot return to acting alone by disabling the other administrator (R137)', async () => {
    const console = await withFourEyes()
    const [ann, bob] = [await console.signUp('admin'), await console.signUp('admin')]
    expect((await change(ann, 'disable', { email: bob.email })).status).toBe(200)
    const { link, text } = await change(ann, 'invite', { email: 'new@example.com', role: 'admin' })
    expect(text).toContain('Nothing is changed yet')
    await console.open().get(link).expect(404)
    await change(ann, 'invite', { email: bob.email })
    expect(await console.service.operator('test').listOperators()).toMatchObject([{}, { state: 'disabled' }])
  })

  test('cannot use a request of an account whose link they got afterwards (R137)', async () => {
    const console = await withFourEyes()
    const [ann, sue, other] = [
      await console.signUp('admin'),
      await console.signUp('support'),
      await console.signUp('support'),
    ]
    const request = await ask(console, sue)
    const { link } = await change(ann, 'reset', { email: sue.email })
    expect(await consent(other, request)).toBe(422)
    await console.join(link, sue.email)
    expect(await consent(ann, request)).toBe(422)
    expect(await consent(other, request)).toBe(422)
    expect(await isDisabled(console, request)).toBe(false)
  })

  test('cannot win against consents at the same moment: one counts, and the link is valid once (R137)', async () => {
    const console = await withFourEyes()
    const [ann, bob, cem] = [
      await console.signUp('admin'),
      await console.signUp('admin'),
      await console.signUp('admin'),
    ]
    const { link } = await change(ann, 'invite', { email: 'new@example.com', role: 'support' })
    const request = await newest(console)
    for (const one of [ann, bob, cem]) await signIn(one)
    const answers = await Promise.all(
      [ann, bob, cem, ann, bob, cem].map(({ browser }) => post(browser, `${CONSENTS}/approve`, request)),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422, 422, 422, 422, 422])
    await console.join(link, 'new@example.com')
    await console.open().get(link).expect(404)
  })
})

describe('two administrators of whom one invited the other', () => {
  test('are two persons once the command line gave one of them a link of their own; their former accounts stay one (R137)', async () => {
    const console = await withFourEyes()
    const ann = await console.signUp('admin')
    const first = await change(ann, 'invite', { email: 'bob@example.com', role: 'admin' })
    const formerBob = await console.join(first.link, 'bob@example.com')
    const second = await change(formerBob, 'invite', { email: 'carol@example.com', role: 'support' })
    const carol = await console.join(second.link, 'carol@example.com')
    const pending = await ask(console, formerBob)
    const { token } = await console.service
      .operator('root')
      .resetOperator('bob@example.com', { independent: true })
    await formerBob.browser.get('/console').expect(303)
    expect(await consent(ann, pending)).toBe(422)
    const bob = await console.join(`/console/invitation/${token}`, 'bob@example.com')
    await expectTwoPersons(console, ann, bob)
    await expectTwoPersons(console, bob, carol)
    await expectOnePerson(console, ann, carol)
  })

  test('are told that nobody can consent, and which command makes them two (R137)', async () => {
    const console = await withFourEyes()
    const ann = await console.signUp('admin')
    const { link } = await change(ann, 'invite', { email: 'bob@example.com', role: 'admin' })
    const bob = await console.join(link, 'bob@example.com')
    await signIn(bob)
    for (const path of [CONSENTS, OPERATORS]) {
      const { text } = await bob.browser.get(path).expect(200)
      expect(textOf(text)).toContain('countersign-service operator reset --independent')
    }
    expect(textOf((await bob.browser.get(OPERATORS)).text)).toContain(`one person with ${ann.email}`)
  })
})

describe('a person with a local and a company account and four eyes (R137)', () => {
  const open = () => withFourEyes(optionsFor(provider.issuer))

  test('consents to nothing with the other one, whichever of the two asks, until an administrator says that they are two', async () => {
    const console = await open()
    const [alice, external] = [await console.signUp('admin'), await company(console, 'alice')]
    await expectOnePerson(console, alice, external)
    const request = await ask(console, external)
    await signIn(alice)
    const { text } = await post(alice.browser, `${CONSENTS}/approve`, request)
    expect(textOf(text)).toContain(`operator two-persons "${external.email}" "${alice.email}"`)
    expect(await isDisabled(console, request)).toBe(false)
    await console.service.operator('root').tellPersons(external.email, alice.email, 'two')
    await expectTwoPersons(console, alice, external)
    await expectTwoPersons(console, external, alice)
  })

  test('stays one person with the same verified email address, whatever an administrator says', async () => {
    const console = await open()
    const alice = await console.signUp('admin')
    const external = await company(console, 'alice', alice.email.toUpperCase())
    await expectOnePerson(console, alice, external)
    const says = console.service.operator('root').tellPersons(external.email, alice.email, 'two')
    await expect(says).rejects.toThrow('count as one person')
    await expectOnePerson(console, alice, external)
    await signIn(alice)
    expect(textOf((await alice.browser.get(OPERATORS)).text)).toContain(`one person with ${external.email}`)
  })

  test('gets no second person from a link that the company account made', async () => {
    const console = await open()
    const [alice, external] = [await console.signUp('admin'), await company(console, 'alice')]
    const { link } = await change(external, 'invite', { email: 'puppet@example.com', role: 'support' })
    const puppet = await console.join(link, 'puppet@example.com')
    await expectOnePerson(console, alice, puppet)
    await expectOnePerson(console, external, puppet)
  })
})

describe('two company administrators and four eyes (R137)', () => {
  test('are each other’s second administrator', async () => {
    const console = await withFourEyes(optionsFor(provider.issuer))
    const ann = await company(console, 'ann')
    expect(textOf((await ann.browser.get(CONSENTS)).text)).toContain(
      'no two administrators who are two persons',
    )
    const bob = await company(console, 'bob', 'bob@example.com')
    expect(textOf((await ann.browser.get(CONSENTS)).text)).not.toContain('no two administrators')
    await expectTwoPersons(console, ann, bob)
    const { link, text } = await change(ann, 'invite', { email: 'new@example.com', role: 'support' })
    expect(text).toContain('Nothing is changed yet')
    await console.open().get(link).expect(404)
    expect(await consent(bob, await newest(console))).toBe(200)
    const invited = await console.join(link, 'new@example.com')
    await expectOnePerson(console, ann, invited)
    await expectTwoPersons(console, ann, bob)
  })
})
