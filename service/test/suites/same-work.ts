import type { CompleteMfaService, Contact } from 'countersign/protocol'
import { expect, test } from 'vitest'
import { inProcessService } from '../../src/flows/in-process-service.js'
import type { Queries } from '../../src/store/store.js'
import { appCode, type Bench, freshEmail, freshTenant, type Tenant } from '../kit.js'

type Attempt = Pick<Parameters<CompleteMfaService['verify']>[0], 'method' | 'kind' | 'code'>

const ATTEMPTS: readonly (readonly [what: string, attempt: Attempt])[] = [
  ['a delivered code', { method: 'email', kind: 'code', code: '000000' }],
  ['an app code', { method: 'app', kind: 'code', code: '000000' }],
  ['the first code of an app', { method: 'app', kind: 'confirm', code: '000000' }],
  ['a backup code', { method: 'email', kind: 'backup', code: '0000000000000000' }],
]

type Ask = (mfa: CompleteMfaService, contact: Contact & { kind: 'email' }) => Promise<{ outcome: string }>

const REQUESTS: readonly (readonly [what: string, ask: Ask, messages: number])[] = [
  ['a code', (mfa, contact) => mfa.send({ method: 'email', contact, purpose: 'sign-in' }), 1],
  [
    'a code for another purpose',
    (mfa, contact) => mfa.send({ method: 'email', contact, purpose: 'step-up' }),
    1,
  ],
  [
    'a code in an unknown challenge',
    (mfa, contact) => mfa.send({ method: 'email', contact, challenge: 'unknown-challenge' }),
    1,
  ],
  ['backup codes', (mfa, contact) => mfa.sendBackupCodes({ method: 'email', contact }), 1],
  ['an app', (mfa, contact) => mfa.enrollApp({ contact }), 0],
]

export function sameWorkSuite(bench: () => Bench): void {
  /** The service of an application, and the statements that it sends to its store. */
  function watched() {
    const tenant = freshTenant(bench())
    const { context } = bench()
    const asked: string[] = []
    const listening = (queries: Queries): Queries => ({
      query: (text, params) => {
        asked.push(text)
        return queries.query(text, params)
      },
    })
    const store = {
      ...context.store,
      ...listening(context.store),
      transaction: <T>(work: (tx: Queries) => Promise<T>) =>
        context.store.transaction((tx) => work(listening(tx))),
    }
    return {
      ...tenant,
      asked,
      mfa: inProcessService({ ...context, store }, async () => tenant.application),
    }
  }

  async function withEverything({ mfa, application }: Tenant, contact: Contact & { kind: 'email' }) {
    await mfa.send({ method: 'email', contact })
    const first = await mfa.enrollApp({ contact })
    const code = first.outcome === 'prepared' ? appCode(first.secret ?? '') : ''
    expect(await mfa.verify({ method: 'app', contact, kind: 'confirm', code })).toEqual({ outcome: 'valid' })
    await mfa.enrollApp({ contact })
    await mfa.sendBackupCodes({ method: 'email', contact })
    // Notices go out on their own.
    const queued = "SELECT id FROM outbox WHERE application = $1 AND state = 'queued'"
    await expect.poll(() => bench().store.query(queued, [application.id])).toEqual([])
  }

  test.each(ATTEMPTS)(
    'refuses %s with the same steps whether or not the account has such a factor (R90)',
    async (_what, attempt) => {
      const tenant = watched()
      const { mfa, asked } = tenant
      const everything = freshEmail()
      await withEverything(tenant, everything)
      const known = freshEmail()
      await mfa.send({ method: 'email', contact: known })
      const stepsFor = async (contact: Contact) => {
        asked.length = 0
        expect(await mfa.verify({ ...attempt, contact })).toEqual({ outcome: 'invalid' })
        return [...asked]
      }
      const steps = await stepsFor(everything)
      expect(await stepsFor(known)).toEqual(steps)
      expect(await stepsFor(freshEmail())).toEqual(steps)
    },
  )

  test.each(REQUESTS)(
    'handles a request for %s with the same steps whether or not the account is known (R44 R90)',
    async (_what, ask, messages) => {
      const tenant = watched()
      const { mfa, asked, sent } = tenant
      const everything = freshEmail()
      await withEverything(tenant, everything)
      const known = freshEmail()
      await mfa.send({ method: 'email', contact: known })
      const served = async (contact: Contact & { kind: 'email' }) => {
        asked.length = 0
        const before = sent().length
        const answer = await ask(mfa, contact)
        expect(sent().length - before).toBe(messages)
        return { outcome: answer.outcome, fields: Object.keys(answer).sort(), steps: [...asked] }
      }
      const first = await served(freshEmail())
      expect(first.steps).not.toEqual([])
      expect(await served(known)).toEqual(first)
      expect(await served(everything)).toEqual(first)
    },
  )
}
