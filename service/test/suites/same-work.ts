import type { Contact, MfaService, VerifyRequest } from 'countersign/protocol'
import { expect, test } from 'vitest'
import type { Queries } from '../../src/store/store.js'
import { inProcessService } from '../../src/flows/in-process-service.js'
import { appCode, type Bench, freshEmail, freshTenant } from '../kit.js'

type Guess = Pick<VerifyRequest, 'method' | 'kind' | 'code'>

const GUESSES: readonly (readonly [what: string, guess: Guess])[] = [
  ['a delivered code', { method: 'email', kind: 'code', code: '000000' }],
  ['an app code', { method: 'app', kind: 'code', code: '000000' }],
  ['the first code of an app', { method: 'app', kind: 'confirm', code: '000000' }],
  ['a backup code', { method: 'email', kind: 'backup', code: '0000000000000000' }],
]

type Ask = (mfa: MfaService, contact: Contact & { kind: 'email' }) => Promise<{ outcome: string }>

const REQUESTS: readonly (readonly [what: string, ask: Ask, messages: number])[] = [
  ['a code', (mfa, contact) => mfa.send({ method: 'email', contact, purpose: 'sign-in' }), 1],
  [
    'a code for something else',
    (mfa, contact) => mfa.send({ method: 'email', contact, purpose: 'step-up' }),
    1,
  ],
  [
    'a code in a challenge that nobody has',
    (mfa, contact) => mfa.send({ method: 'email', contact, challenge: 'made-up-by-somebody' }),
    1,
  ],
  ['backup codes', (mfa, contact) => mfa.sendBackupCodes({ method: 'email', contact }), 1],
  ['an app', (mfa, contact) => mfa.enrollApp({ contact }), 0],
]

export function sameWorkSuite(bench: () => Bench): void {
  /** The service of an application, and the statements that it asks its store for. */
  function watched() {
    const tenant = freshTenant(bench())
    const { core } = bench()
    const asked: string[] = []
    const listening = (queries: Queries): Queries => ({
      query: (text, params) => {
        asked.push(text)
        return queries.query(text, params)
      },
    })
    const store = {
      ...core.store,
      ...listening(core.store),
      transaction: <T>(work: (tx: Queries) => Promise<T>) =>
        core.store.transaction((tx) => work(listening(tx))),
    }
    return { ...tenant, asked, mfa: inProcessService({ ...core, store }, async () => tenant.application) }
  }

  async function withEverything(mfa: MfaService, contact: Contact & { kind: 'email' }) {
    await mfa.send({ method: 'email', contact })
    const first = await mfa.enrollApp({ contact })
    const code = first.outcome === 'prepared' ? appCode(first.secret ?? '') : ''
    expect(await mfa.verify({ method: 'app', contact, kind: 'confirm', code })).toEqual({ outcome: 'valid' })
    await mfa.enrollApp({ contact })
    await mfa.sendBackupCodes({ method: 'email', contact })
  }

  test.each(GUESSES)(
    '%s is refused by the same steps whether there is anything to guess (R90)',
    async (_what, guess) => {
      const { mfa, asked } = watched()
      const everything = freshEmail()
      await withEverything(mfa, everything)
      const known = freshEmail()
      await mfa.send({ method: 'email', contact: known })
      const stepsFor = async (contact: Contact) => {
        asked.length = 0
        expect(await mfa.verify({ ...guess, contact })).toEqual({ outcome: 'invalid' })
        return [...asked]
      }
      const steps = await stepsFor(everything)
      expect(await stepsFor(known)).toEqual(steps)
      expect(await stepsFor(freshEmail())).toEqual(steps)
    },
  )

  test.each(REQUESTS)(
    'who asks for %s is served by the same steps whether the person was ever heard of (R44 R90)',
    async (_what, ask, messages) => {
      const { mfa, asked, sent } = watched()
      const everything = freshEmail()
      await withEverything(mfa, everything)
      const known = freshEmail()
      await mfa.send({ method: 'email', contact: known })
      const served = async (contact: Contact & { kind: 'email' }) => {
        asked.length = 0
        const before = sent().length
        const answer = await ask(mfa, contact)
        expect(sent().length - before).toBe(messages)
        return { outcome: answer.outcome, tells: Object.keys(answer).sort(), steps: [...asked] }
      }
      const first = await served(freshEmail())
      expect(first.steps.length).toBeGreaterThan(1)
      expect(await served(known)).toEqual(first)
      expect(await served(everything)).toEqual(first)
    },
  )
}
