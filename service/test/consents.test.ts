import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { ConsentReference } from '../src/operator/consent-request.js'
import type { NewOperatorConsent } from '../src/operator/consents.js'
import { signInExternally } from '../src/operator/external-operators.js'
import { operator } from '../src/operator/operator.js'
import { deleteExpired } from '../src/operator/retention.js'
import type { Role } from '../src/operator/rights.js'
import { accountReference, deriveKeys } from '../src/store/secrets/keys.js'
import type { Store } from '../src/store/store.js'
import { describeOnBothDatabases } from './both-databases.js'
import { advance, appCode, freshEmail, freshTenant, rejection, SECRET, stopClock } from './kit.js'
import { RELYING_PARTY, registerSoftwareKey } from './software-key.js'

const HOUR = 3_600
const PASSWORD = 'seven quiet otters float'
let people = 0

beforeEach(() => stopClock())
afterEach(() => void vi.useRealTimers())

describeOnBothDatabases((bench) => {
  const act = (name: string, store: Store = bench().store) =>
    operator(store, name, { keys: () => deriveKeys(SECRET), fourEyes: true })

  /** The same at the command line, or in a console without four eyes. */
  const alone = (name: string) => operator(bench().store, name, { keys: () => deriveKeys(SECRET) })

  /** An operator of the console. */
  async function person(role: Role, invitedBy = 'system'): Promise<string> {
    const email = `${role}-${++people}@ops.example`
    const { token } = await alone(invitedBy).inviteOperator({ email, role })
    await act(email).acceptInvitation(token, PASSWORD)
    return email
  }

  /** An operator of the identity provider. */
  async function company(role: Role, verifiedEmail: string | null = null): Promise<string> {
    const external = { issuer: 'https://id.example', subject: `person-${++people}`, session: undefined }
    const account = await signInExternally(bench().store, { ...external, role, verifiedEmail })
    return account?.email ?? ''
  }

  /** Two operators, and a user with an app and a key. */
  async function fresh() {
    const tenant = freshTenant(bench(), { relyingParty: RELYING_PARTY })
    const application = tenant.application.id
    await act('system').createApplication(application)
    const account = { account: 'user 7', contact: freshEmail() }
    const app = await tenant.mfa.enrollApp(account)
    const secret = app.outcome === 'prepared' ? (app.secret ?? '') : ''
    await tenant.mfa.verify({ method: 'app', kind: 'confirm', code: appCode(secret), ...account })
    const { answer } = await registerSoftwareKey(tenant.mfa, account, 'security-key')
    const user = { application, mode: 'live', user: 'user 7', isAccount: true } as const
    const [asker, other] = [await person('support'), await person('support')]
    const ask = async (target = 'app', by = asker) => {
      const { id } = await act(by).consents.ask(user, { action: 'disable-factor', target })
      return { application, mode: 'live', id } as const
    }
    const disabled = async () =>
      (await act('system').showUser(user)).factors.filter(({ disabled }) => disabled !== 'no').length
    const open = async () =>
      (await act(asker).consents.list()).filter((one) => one.application === application)
    return { application, user, asker, other, ask, disabled, open, key: 'key' in answer ? answer.key.id : '' }
  }
  const fault = async (work: Promise<unknown>) => (await rejection(work)).message

  test('a factor is disabled when another operator consents, once, with both names in the audit log (R106)', async () => {
    const { application, user, asker, other, ask, disabled, open } = await fresh()
    const request = await ask()
    expect(await open()).toMatchObject([
      { ...request, action: 'disable-factor', user: 'user 7', target: 'APP', askedBy: asker },
    ])
    expect((await open())[0]?.deciders).toContain(other)
    expect((await open())[0]?.deciders).not.toContain(asker)
    expect(await disabled()).toBe(0)
    await act(other).consents.give(request)
    expect([await disabled(), await open()]).toEqual([1, []])
    expect(await fault(act(other).consents.give(request))).toContain('decided already')
    const log = await act('system').listAudit({ application, limit: 3 })
    expect(log.map(({ actor, action, detail }) => [actor, action, detail])).toEqual([
      [other, 'consent.given', `${request.id} disable-factor APP, asked by ${asker}`],
      [other, 'factor.disabled', 'APP of user 7'],
      [
        asker,
        'consent.asked',
        `${request.id} disable-factor APP of account ${accountReference(deriveKeys(SECRET), application, 'account:user 7')}`,
      ],
    ])
    for (const change of [
      () => act(asker).disableFactor(user, 'app'),
      () => act(asker).removeUserKey(user, 'key'),
      () => act(asker).eraseUser(user),
    ])
      expect(await fault(change())).toContain('needs a second operator')
  })

  test('of two operators who consent at once, one makes the change, and a change that fails leaves the request', async () => {
    const { asker, other, ask, disabled, open } = await fresh()
    const third = await person('admin')
    const request = await ask()
    const failing: Store = {
      ...bench().store,
      transaction: (work) =>
        bench().store.transaction(async (tx) => {
          await work(tx)
          throw new Error('crashed before the commit')
        }),
    }
    expect(await fault(act(other, failing).consents.give(request))).toContain('crashed')
    expect([await disabled(), (await open()).length]).toEqual([0, 1])
    const both = await Promise.allSettled([other, third].map((name) => act(name).consents.give(request)))
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(asker).not.toBe(other)
    expect(await disabled()).toBe(1)
  })

  test('nobody consents alone: not the asker, a viewer, an account that the asker made or changed, or a stranger', async () => {
    const { asker, ask, disabled, other } = await fresh()
    const [admin, viewer] = [await person('admin'), await person('viewer')]
    const request = await ask('app', admin)
    const own = await person('support', admin)
    await alone(admin).changeRole(viewer, 'support')
    for (const name of [admin, own, viewer, 'nobody@ops.example', 'system'])
      expect([name, await fault(act(name).consents.give(request))]).toEqual([
        name,
        expect.stringMatching(/yourself|cannot consent/),
      ])
    expect(await fault(act(admin).consents.give(request))).toContain('You asked for this yourself')
    expect(await disabled()).toBe(0)
    // The request of an operator whose account is disabled is void.
    const late = await ask()
    await act(admin).disableOperator(asker)
    expect(await fault(act(other).consents.give(late))).toContain('ended with the session')
    await act(other).consents.give(request)
    expect(await disabled()).toBe(1)
  })

  test('a request expires after an hour, can be refused or withdrawn, and is deleted', async () => {
    const { asker, other, ask, disabled, application } = await fresh()
    const [first, second, third] = [await ask(), await ask(), await ask()]
    await act(other).consents.refuse(first)
    await act(asker).consents.refuse(second)
    const log = await act('system').listAudit({ application, action: 'consent', limit: 2 })
    expect(log.map(({ action }) => action)).toEqual(['consent.withdrawn', 'consent.refused'])
    advance(HOUR)
    for (const request of [first, second, third])
      expect(await fault(act(other).consents.give(request))).toContain('expired')
    expect(await disabled()).toBe(0)
    await deleteExpired(bench().store)
    const left = await bench().store.query('SELECT FROM approval_request WHERE application = $1', [
      application,
    ])
    expect(left).toEqual([])
  })

  test('a request is named by application, mode and id, and no other one is decided in its place', async () => {
    const { asker, other, ask, open, disabled } = await fresh()
    const request = await ask()
    for (const wrong of [{ application: 'another' }, { mode: 'test' }, { id: 'none' }] as const) {
      const named = { ...request, ...wrong }
      expect(await fault(act(other).consents.give(named))).toContain('decided already')
      expect(await fault(act(other).consents.refuse(named))).toContain('decided already')
    }
    expect(await open()).toMatchObject([request])
    advance(HOUR)
    expect(await open()).toEqual([])
    expect(await fault(act(asker).consents.refuse(request))).toContain('expired')
    expect(await disabled()).toBe(0)
  })

  test('an operator has fifty requests open at most, of those that have not expired', async () => {
    const { application, asker, other, ask } = await fresh()
    await bench().store.query(
      `INSERT INTO approval_request (application, id, account, action, target, asked_by, asked_at, expires_at)
         SELECT $1, 'request ' || n, 'user 7', 'disable-factor', 'app', $2, 1, $3 FROM generate_series(1, 49) AS n`,
      [application, asker, Date.now() + 1_000],
    )
    await ask()
    expect(await fault(ask())).toContain('50 of your requests wait for consent')
    await ask('app', other)
    advance(1)
    await ask()
  })

  test('a request counts no more once the operator who asked lost the role or the account, whatever kept it', async () => {
    const { application, user, asker, ask, open } = await fresh()
    const [admin, leaver, decider] = [await person('admin'), await person('support'), await person('admin')]
    const { id } = await act(admin).consents.ask(user, { action: 'erase-user', target: '' })
    for (const [by, request, change] of [
      [admin, { application, mode: 'live', id }, "role = 'support'"],
      [asker, await ask(), "role = 'viewer'"],
      [leaver, await ask('app', leaver), 'disabled_at = 1'],
    ] as const) {
      await bench().store.query(`UPDATE operator_account SET ${change} WHERE email = $1`, [by])
      const refused = await fault(act(decider).consents.give(request))
      expect(refused).toContain(`${by} cannot ask for this any more`)
    }
    expect(await open()).toHaveLength(3)
  })

  test('nobody consents to a change of their own account, nor is named as one who could', async () => {
    const [ann, bob, eve, viewer] = [
      await person('admin'),
      await person('admin'),
      await person('admin'),
      await person('viewer'),
    ]
    const change = { action: 'change-role', email: eve, role: 'viewer' } as const
    const { id } = await act(ann).consents.askOperatorChange(change)
    const { deciders } = (await act(bob).consents.list()).find((one) => one.id === id) ?? {}
    expect(deciders).toContain(bob)
    for (const name of [ann, eve, viewer]) expect(deciders).not.toContain(name)
    const request = { application: '_console', mode: 'live', id } as const
    expect(await fault(act(eve).consents.give(request))).toContain('about your own account')
    await act(bob).consents.give(request)
  })

  test('two operators are one person through any chain, in both directions, for good (R137)', async () => {
    const { ask, disabled, application } = await fresh()
    const first = await person('admin')
    const chain = [first]
    for (let count = 0; count < 4; count++) chain.push(await person('support', chain.at(-1)))
    // A third account relates two that have nothing to do with each other.
    const [left, right, between] = [await person('support'), await person('support'), await person('admin')]
    await alone(between).changeRole(left, 'support')
    await alone(between)
      .resetOperator(right)
      .then(({ token }) => act(right).acceptInvitation(token, PASSWORD))
    advance(366 * 24 * HOUR)
    const pairs = [
      [first, chain.at(-1)],
      [chain[1], chain[3]],
      [left, right],
      [left, between],
    ] as const
    for (const [one = '', two = ''] of pairs) {
      for (const [by, decider] of [
        [one, two],
        [two, one],
      ] as const) {
        const request = await ask('app', by)
        expect(await fault(act(decider).consents.give(request))).toContain('one person')
        const open = await act(by).consents.list()
        expect(open.find(({ id }) => id === request.id)?.deciders).not.toContain(decider)
        await act(by).consents.refuse(request)
      }
    }
    const listed = await alone('system').listOperators()
    expect(listed.find(({ email }) => email === first)?.samePersonAs).toEqual(chain.slice(1).sort())
    expect(await disabled()).toBe(0)
    await act(chain[4] ?? '').consents.give(await ask('app', left))
    expect([application.length > 0, await disabled()]).toEqual([true, 1])
  })

  /** Tries a change with each of two accounts asking and the other consenting; returns why it was refused, without the names. */
  async function refusals(
    ask: (target: string, by: string) => Promise<ConsentReference>,
    [one, two]: string[],
  ) {
    const found = []
    for (const [by = '', decider = ''] of [
      [one, two],
      [two, one],
    ]) {
      const request = await ask('app', by)
      const refused = await act(decider)
        .consents.give(request)
        .then(
          () => undefined,
          (error: Error) => error.message,
        )
      found.push(refused && /may be one person|count as one person|$/.exec(refused)?.[0])
      const { deciders } = (await act(by).consents.list()).find(({ id }) => id === request.id) ?? {}
      if (refused) {
        expect([decider, deciders]).toEqual([decider, expect.not.arrayContaining([decider])])
        await act(by).consents.refuse(request)
      }
    }
    return found
  }
  const TWO = [undefined, undefined]
  const ONE = ['count as one person', 'count as one person']
  const UNCLEAR = ['may be one person', 'may be one person']

  test('a local and a company account are one person until the command line says that they are two (R137)', async () => {
    const { ask } = await fresh()
    const [alice, external, other] = [await person('admin'), await company('admin'), await company('support')]
    expect(await refusals(ask, [alice, external])).toEqual(UNCLEAR)
    const request = await ask('app', external)
    const refused = await fault(act(alice).consents.give(request))
    expect(refused).toContain(`operator two-persons "${external}" "${alice}"`)
    await alone('root').tellPersons(alice, external, 'two')
    expect(await refusals(ask, [alice, external])).toEqual(TWO)
    expect(await refusals(ask, [alice, other])).toEqual(UNCLEAR)
    // A new holder of the account is another person, of whom nothing is said.
    const { token } = await alone('root').resetOperator(alice, { independent: true })
    await act(alice).acceptInvitation(token, PASSWORD)
    expect(await refusals(ask, [alice, external])).toEqual(UNCLEAR)
    const [entry] = await alone('root').listAudit({ action: 'operator.two_persons', limit: 1 })
    expect([entry?.actor, entry?.detail]).toEqual(['root', `${alice} ${external}`])
  })

  test('accounts with the same verified email address are one person, whichever came first (R137)', async () => {
    const { ask } = await fresh()
    const alice = await person('admin')
    const external = await company('admin', alice.toUpperCase())
    expect(await refusals(ask, [alice, external])).toEqual(ONE)
    expect(await fault(alone('root').tellPersons(alice, external, 'two'))).toContain('same email address')
    const { token: own } = await alone('root').resetOperator(alice, { independent: true })
    await act(alice).acceptInvitation(own, PASSWORD)
    expect(await refusals(ask, [alice, external])).toEqual(ONE)
    const mailbox = `later-${++people}@ops.example`
    const first = await company('support', mailbox)
    const { token } = await alone('root').inviteOperator({ email: mailbox, role: 'support' })
    await act(mailbox).acceptInvitation(token, PASSWORD)
    expect(await refusals(ask, [mailbox, first])).toEqual(ONE)
    expect(await refusals(ask, [first, await company('support', mailbox)])).toEqual(ONE)
    // Of whom both accounts are known, nobody has to be told apart.
    const stranger = await company('support', `not-${mailbox}`)
    for (const known of [first, mailbox]) expect(await refusals(ask, [known, stranger])).toEqual(TWO)
  })

  test('two accounts are one person when an administrator says so, also against an earlier word (R137)', async () => {
    const { ask } = await fresh()
    const [first, second, alice] = [await company('admin'), await company('support'), await person('support')]
    expect(await refusals(ask, [first, second])).toEqual(TWO)
    await alone('root').tellPersons(first, alice, 'two')
    await alone('root').tellPersons(first, second, 'one')
    await alone('root').tellPersons(first, alice, 'one')
    expect(await refusals(ask, [first, second])).toEqual(ONE)
    expect(await refusals(ask, [alice, second])).toEqual(ONE)
    for (const [one, other] of [
      [first, first],
      [first, 'nobody@ops.example'],
    ] as const)
      expect(await fault(alone('root').tellPersons(one, other, 'two'))).toContain('Name two operators')
  })

  test('a company account makes no second person by inviting a local one, nor its local account by inviting (R137)', async () => {
    const { ask } = await fresh()
    const [alice, external, colleague] = [
      await person('admin'),
      await company('admin'),
      await company('admin'),
    ]
    const puppet = await person('support', external)
    expect(await refusals(ask, [alice, puppet])).toEqual(UNCLEAR)
    expect(await refusals(ask, [puppet, colleague])).toEqual(UNCLEAR)
    // Two company accounts are two persons, whatever one of them invited.
    expect(await refusals(ask, [external, colleague])).toEqual(TWO)
    await alone('root').tellPersons(external, alice, 'two')
    expect(await refusals(ask, [alice, puppet])).toEqual(TWO)
  })

  test('a disabled operator consents to nothing, nor one who never followed the link', async () => {
    const { ask, disabled, other } = await fresh()
    const request = await ask()
    const invited = `invited-${++people}@ops.example`
    await alone('system').inviteOperator({ email: invited, role: 'support' })
    const leaver = await company('support')
    await alone('root').disableOperator(leaver)
    await alone('root').disableOperator(other)
    for (const name of [other, invited, leaver])
      expect(await fault(act(name).consents.give(request))).toContain('an operator who can sign in')
    const [listed] = (await act('system').consents.list()).filter(({ id }) => id === request.id)
    expect(listed?.deciders).not.toEqual(expect.arrayContaining([other]))
    expect(await fault(ask('app', other))).toContain('cannot ask')
    expect(await disabled()).toBe(0)
    await act(await person('support')).consents.give(request)
    expect(await disabled()).toBe(1)
  })

  test('a chain of two hundred operators is found in time (R137)', async () => {
    const { ask, disabled } = await fresh()
    const [first, last] = [await person('admin'), await person('admin')]
    await bench().store.query(
      `WITH node AS (SELECT n, CASE n WHEN 0 THEN (SELECT holder FROM operator_account WHERE email = $1)
           WHEN 200 THEN (SELECT holder FROM operator_account WHERE email = $2) ELSE 'chain ' || n END AS holder
         FROM generate_series(0, 200) AS n)
       INSERT INTO operator_relation
       SELECT a.holder, b.holder, CASE WHEN a.n < b.n THEN 'made' ELSE 'made-by' END
       FROM node AS a JOIN node AS b ON abs(a.n - b.n) = 1`,
      [first, last],
    )
    const request = await ask('app', first)
    const startedAt = performance.now()
    expect(await fault(act(last).consents.give(request))).toContain('one person')
    expect(performance.now() - startedAt).toBeLessThan(5_000)
    expect(await disabled()).toBe(0)
  })

  test('a consent at the moment in which the decider becomes the same person is given before, or not at all (R137)', async () => {
    for (let round = 0; round < 5; round++) {
      const { ask, disabled } = await fresh()
      const [admin, viewer] = [await person('admin'), await person('viewer')]
      const request = await ask('app', admin)
      const [, given] = await Promise.allSettled([
        alone(admin).changeRole(viewer, 'support'),
        act(viewer).consents.give(request),
      ])
      // Before the change, the decider is a viewer; afterwards, the same person.
      expect([given.status, await disabled()]).toEqual(['rejected', 0])
    }
  })

  test('a new operator, role or reset waits for a second administrator, and relates its operator to the one who asked (R137)', async () => {
    const [ann, bob, helper] = [await person('admin'), await person('admin'), await person('support')]
    const wait = 'needs a second administrator'
    const email = `asked-${++people}@ops.example`
    expect(await fault(act(ann).inviteOperator({ email, role: 'admin' }))).toContain(wait)
    expect(await fault(act(ann).changeRole(helper, 'admin'))).toContain(wait)
    expect(await fault(act(ann).resetOperator(helper))).toContain(wait)
    const askFor = (change: NewOperatorConsent, by = ann) => act(by).consents.askOperatorChange(change)
    expect(await fault(askFor({ action: 'reset-operator', email: 'nobody@ops.example' }))).toContain(
      'no operator',
    )
    expect(await fault(askFor({ action: 'invite-operator', email: 'nobody' }))).toContain('email address')
    expect(await fault(askFor({ action: 'change-role', email: helper }))).toContain('is not a role')
    expect(await fault(askFor({ action: 'change-role', email: ann, role: 'viewer' }))).toContain('your own')
    const admin = { action: 'change-role', email: helper, role: 'admin' } as const
    expect(await fault(askFor({ ...admin, email: bob }, helper))).toContain('cannot ask')
    const reference = (id: string) => ({ application: '_console', mode: 'live', id }) as const

    const { id, token = '' } = await askFor({ action: 'invite-operator', email, role: 'admin' })
    const [request] = (await act(bob).consents.list()).filter((one) => one.id === id)
    expect(request).toMatchObject({
      action: 'invite-operator',
      user: email,
      target: 'admin',
      roles: ['admin'],
    })
    expect(request?.deciders).toContain(bob)
    expect(request?.deciders).not.toContain(ann)
    expect(await fault(act(email).acceptInvitation(token, PASSWORD))).toContain('expired')
    expect(await fault(act(helper).consents.give(reference(id)))).toContain('role admin')
    expect(await fault(act(helper).consents.refuse(reference(id)))).toContain('cannot')
    await act(bob).consents.give(reference(id))
    await act(email).acceptInvitation(token, PASSWORD)
    const log = await alone('system').listAudit({ limit: 200 })
    const ours = log.filter(({ detail }) => detail.includes(email))
    expect(ours.map(({ actor, action, detail }) => [actor, action, detail])).toEqual([
      [email, 'operator.password_set', email],
      [bob, 'consent.given', `${id} invite-operator admin of ${email}, asked by ${ann}`],
      [bob, 'operator.invited', `${email} admin`],
      [ann, 'consent.asked', `${id} invite-operator admin of ${email}`],
    ])
    const relatedTo = async (who: string) =>
      (await alone('system').listOperators()).find((one) => one.email === who)?.samePersonAs
    expect([await relatedTo(email), await relatedTo(bob)]).toEqual([[ann], []])

    const change = await askFor(admin, bob)
    expect(change.token).toBeUndefined()
    expect(await fault(act(helper).consents.give(reference(change.id)))).toContain('about your own account')
    await act(ann).consents.give(reference(change.id))
    expect(await relatedTo(bob)).toEqual([helper])
    const reset = await askFor({ action: 'reset-operator', email: helper }, bob)
    // Not even the operator concerned.
    expect(await fault(act(helper).consents.give(reference(reset.id)))).toContain('about your own account')
    await act(ann).consents.give(reference(reset.id))
    await act(helper).acceptInvitation(reset.token ?? '', PASSWORD)
    expect(await fault(act(ann).consents.give(reference(reset.id)))).toContain('decided already')
  })

  test('an invitation that was asked for does not end the account that its operator got meanwhile', async () => {
    const [ann, bob] = [await person('admin'), await person('admin')]
    const email = `meanwhile-${++people}@ops.example`
    const { id } = await act(ann).consents.askOperatorChange({ action: 'invite-operator', email })
    const { token } = await alone('root').inviteOperator({ email })
    await act(email).acceptInvitation(token, PASSWORD)
    const request = { application: '_console', mode: 'live', id } as const
    expect(await fault(act(bob).consents.give(request))).toContain('has an account already')
  })

  test('a request that has lost its link changes nobody', async () => {
    const [ann, bob, helper] = [await person('admin'), await person('admin'), await person('support')]
    const { id } = await act(ann).consents.askOperatorChange({ action: 'reset-operator', email: helper })
    await bench().store.query('UPDATE approval_request SET invitation = NULL WHERE id = $1', [id])
    const request = { application: '_console', mode: 'live', id } as const
    expect(await fault(act(bob).consents.give(request))).toContain('has no link')
    expect((await act(bob).consents.list()).some((one) => one.id === id)).toBe(true)
  })

  test('the command line makes operators of their own, unless it acts in the name of an operator (R137)', async () => {
    const relatedTo = async (who: string) =>
      (await alone('system').listOperators()).find((one) => one.email === who)?.samePersonAs
    const [ann, first, second] = [
      await person('admin'),
      await person('admin', 'root'),
      await person('support', 'root'),
    ]
    await alone('root').changeRole(second, 'admin')
    await alone('someone@example.com').resetOperator(second)
    expect([await relatedTo(first), await relatedTo(second)]).toEqual([[], []])
    const made = await person('viewer', ann.toUpperCase())
    expect(await relatedTo(made)).toEqual([ann])
    // The former holder stays related to whom they invited; the new one to nobody.
    const below = await person('support', made)
    await alone('root').resetOperator(made, { independent: true })
    expect([await relatedTo(made), await relatedTo(below)]).toEqual([[], [ann]])
    const [entry] = await alone('root').listAudit({ action: 'operator.reset', limit: 1 })
    expect(entry?.detail).toBe(`${made} independent`)
  })

  test('keys are removed and users erased in the same way, erasures by administrators only', async () => {
    const { application, user, asker, other, key } = await fresh()
    const admins = [await person('admin'), await person('admin')]
    const request = (id: string) => ({ application, mode: 'live', id }) as const
    const removal = await act(asker).consents.ask(user, { action: 'remove-key', target: key })
    await act(other).consents.give(request(removal.id))
    expect(await act('system').listUserKeys(user)).toEqual([])
    const erasure = { action: 'erase-user', target: '' } as const
    expect(await fault(act(asker).consents.ask(user, erasure))).toContain('cannot ask')
    const { id } = await act(admins[0] ?? '').consents.ask(user, erasure)
    expect(await fault(act(other).consents.give(request(id)))).toContain('role admin')
    await act(admins[1] ?? '').consents.give(request(id))
    expect(await fault(act('system').showUser(user))).toContain('no account')
  })

  test('a request must be about something that exists', async () => {
    const { user, asker } = await fresh()
    const ask = (action: 'disable-factor' | 'remove-key', target: string, who = 'user 7') =>
      fault(act(asker).consents.ask({ ...user, user: who }, { action, target }))
    expect(await ask('disable-factor', 'nothing')).toContain('is not a factor')
    expect(await ask('remove-key', 'none')).toContain('no such key')
    expect(await ask('disable-factor', 'app', 'user 8')).toContain('no account')
    const { user: elsewhere, key } = await fresh()
    expect(await ask('remove-key', key)).toContain('no such key')
    const unused = `unused-${elsewhere.application}`
    await act('system').createApplication(unused)
    const app = { action: 'disable-factor', target: 'app' } as const
    for (const [wrong, why] of [
      [{ application: 'nowhere' }, 'does not exist'],
      [{ application: unused }, 'no account'],
      [{ mode: 'test' }, 'no account'],
    ] as const)
      expect(await fault(act(asker).consents.ask({ ...user, ...wrong }, app))).toContain(why)
  })
})
