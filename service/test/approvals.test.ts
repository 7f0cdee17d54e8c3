import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { deleteExpired } from '../src/maintenance/retention.js'
import { operator } from '../src/operator/operator.js'
import type { Role } from '../src/operator/role.js'
import { keysFrom } from '../src/secrets/keys.js'
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
    operator(store, name, { keys: () => keysFrom(SECRET), fourEyes: true })

  /** An operator of the console. */
  async function person(role: Role, invitedBy = 'system'): Promise<string> {
    const email = `${role}-${++people}@ops.example`
    const { token } = await act(invitedBy).inviteOperator({ email, role })
    await act(email).acceptInvitation(token, PASSWORD)
    return email
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
      const { id } = await act(by).approvals.ask(user, { action: 'disable-factor', target })
      return { application, mode: 'live', id } as const
    }
    const disabled = async () =>
      (await act('system').showUser(user)).factors.filter(({ disabled }) => disabled !== 'no').length
    const open = async () =>
      (await act(asker).approvals.list()).filter((one) => one.application === application)
    return { application, user, asker, other, ask, disabled, open, key: 'key' in answer ? answer.key.id : '' }
  }
  const fault = async (work: Promise<unknown>) => (await rejection(work)).message

  test('a factor is disabled when another operator approves, once, with both names in the audit log (R106)', async () => {
    const { application, user, asker, other, ask, disabled, open } = await fresh()
    const request = await ask()
    expect(await open()).toMatchObject([
      { ...request, action: 'disable-factor', user: 'user 7', target: 'APP', askedBy: asker },
    ])
    expect((await open())[0]?.approvers).toContain(other)
    expect((await open())[0]?.approvers).not.toContain(asker)
    expect(await disabled()).toBe(0)
    await act(other).approvals.approve(request)
    expect([await disabled(), await open()]).toEqual([1, []])
    expect(await fault(act(other).approvals.approve(request))).toContain('decided already')
    const log = await act('system').listAudit({ application, limit: 3 })
    expect(log.map(({ actor, action, detail }) => [actor, action, detail])).toEqual([
      [other, 'approval.given', `${request.id} disable-factor APP, asked by ${asker}`],
      [other, 'factor.disabled', 'APP of user 7'],
      [
        asker,
        'approval.asked',
        expect.stringMatching(`^${request.id} disable-factor APP of account [0-9a-f]{12}$`),
      ],
    ])
    for (const change of [
      () => act(asker).disableFactor(user, 'app'),
      () => act(asker).removeUserKey(user, 'key'),
      () => act(asker).eraseUser(user),
    ])
      expect(await fault(change())).toContain('needs a second operator')
  })

  test('of two operators who approve at once, one makes the change, and a change that fails leaves the request', async () => {
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
    expect(await fault(act(other, failing).approvals.approve(request))).toContain('crashed')
    expect([await disabled(), (await open()).length]).toEqual([0, 1])
    const both = await Promise.allSettled([other, third].map((name) => act(name).approvals.approve(request)))
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(asker).not.toBe(other)
    expect(await disabled()).toBe(1)
  })

  test('nobody approves alone: not the asker, a viewer, an account that the asker made or changed, or a stranger', async () => {
    const { asker, ask, disabled, other } = await fresh()
    const [admin, viewer] = [await person('admin'), await person('viewer')]
    const request = await ask('app', admin)
    const own = await person('support', admin)
    await act(admin).changeRole(viewer, 'support')
    for (const name of [admin, own, viewer, 'nobody@ops.example', 'system'])
      expect([name, await fault(act(name).approvals.approve(request))]).toEqual([
        name,
        expect.stringMatching(/yourself|cannot approve/),
      ])
    expect(await disabled()).toBe(0)
    // The request of an operator whose account is disabled is void.
    const late = await ask()
    await act(admin).disableOperator(asker)
    expect(await fault(act(other).approvals.approve(late))).toContain('cannot ask for this any more')
    await act(other).approvals.approve(request)
    expect(await disabled()).toBe(1)
  })

  test('a request expires after an hour, can be refused or withdrawn, and is deleted', async () => {
    const { asker, other, ask, disabled, application } = await fresh()
    const [first, second, third] = [await ask(), await ask(), await ask()]
    await act(other).approvals.refuse(first)
    await act(asker).approvals.refuse(second)
    const log = await act('system').listAudit({ application, action: 'approval', limit: 2 })
    expect(log.map(({ action }) => action)).toEqual(['approval.withdrawn', 'approval.refused'])
    advance(HOUR)
    for (const request of [first, second, third])
      expect(await fault(act(other).approvals.approve(request))).toContain('expired')
    expect(await disabled()).toBe(0)
    await deleteExpired(bench().store)
    const left = await bench().store.query('SELECT FROM approval_request WHERE application = $1', [
      application,
    ])
    expect(left).toEqual([])
  })

  test('keys are removed and users erased in the same way, erasures by administrators only', async () => {
    const { application, user, asker, other, key } = await fresh()
    const admins = [await person('admin'), await person('admin')]
    const request = (id: string) => ({ application, mode: 'live', id }) as const
    const removal = await act(asker).approvals.ask(user, { action: 'remove-key', target: key })
    await act(other).approvals.approve(request(removal.id))
    expect(await act('system').listUserKeys(user)).toEqual([])
    const erasure = { action: 'erase-user', target: '' } as const
    expect(await fault(act(asker).approvals.ask(user, erasure))).toContain('cannot ask')
    const { id } = await act(admins[0] ?? '').approvals.ask(user, erasure)
    expect(await fault(act(other).approvals.approve(request(id)))).toContain('role admin')
    await act(admins[1] ?? '').approvals.approve(request(id))
    expect(await fault(act('system').showUser(user))).toContain('no account')
  })

  test('a request must be about something that exists', async () => {
    const { user, asker } = await fresh()
    const ask = (action: 'disable-factor' | 'remove-key', target: string, who = 'user 7') =>
      fault(act(asker).approvals.ask({ ...user, user: who }, { action, target }))
    expect(await ask('disable-factor', 'nothing')).toContain('is not a factor')
    expect(await ask('remove-key', 'none')).toContain('no such key')
    expect(await ask('disable-factor', 'app', 'user 8')).toContain('no account')
  })
})
