import type { Contact } from 'countersign/protocol'
import { expect, test } from 'vitest'
import type { Application } from '../../src/accounts/application.js'
import { inProcessService } from '../../src/flows/in-process-service.js'
import type { Store } from '../../src/store/store.js'
import { advance, type Bench, freshEmail, freshTenant, wrong } from '../kit.js'

type Email = ReturnType<typeof freshEmail>

/** Requests of several accounts that arrive at the same time, which share statements. */
export function severalAccountsSuite(bench: () => Bench): void {
  /** A service that counts its statements outside of transactions. */
  function counting(application: Application) {
    const { context, store } = bench()
    const counted = { statements: 0 }
    const watched: Store = {
      ...store,
      query(...statement) {
        counted.statements++
        return store.query(...statement)
      },
    }
    return { mfa: inProcessService({ ...context, store: watched }, async () => application), counted }
  }

  test('sends each of 40 codes to its own account in a few statements, and every code is accepted once', async () => {
    const { application, sent } = freshTenant(bench())
    const { mfa, counted } = counting(application)
    const contacts = Array.from({ length: 40 }, freshEmail)
    const answers = await Promise.all(contacts.map((contact) => mfa.send({ method: 'email', contact })))
    const { statements } = counted
    expect(answers.map(({ outcome }) => outcome)).toEqual(contacts.map(() => 'sent'))
    // Recording what became of the messages takes statements too.
    expect(statements).toBeLessThan(40)
    const verify = () =>
      Promise.all(
        contacts.map((contact) => {
          const code = sent().find(({ to }) => to === contact.email)?.code ?? ''
          return mfa.verify({ method: 'email', contact, kind: 'code', code })
        }),
      )
    expect(new Set((await verify()).map(({ outcome }) => outcome))).toEqual(new Set(['valid']))
    expect(new Set((await verify()).map(({ outcome }) => outcome))).toEqual(new Set(['invalid']))
    expect(
      await bench().store.query(
        'SELECT sum(messages)::integer AS messages FROM daily_budget WHERE application = $1',
        [application.id],
      ),
    ).toEqual([{ messages: 40 }])
  })

  test('refuses some of them, each for a reason of its own, and sends the others (R22 R39 R43)', async () => {
    const { mfa, sent } = freshTenant(bench(), {
      notices: [],
      limits: { failuresBeforeLock: 3, sendsPerTenMinutes: 2 },
    })
    const challengeOf = async (contact: Contact) => {
      const answer = await mfa.send({ method: 'email', contact })
      return answer.outcome === 'refused' ? '' : (answer.challenge ?? '')
    }
    const [locked, spent, again, early, fresh] = [1, 2, 3, 4, 5].map(freshEmail) as [
      Email,
      Email,
      Email,
      Email,
      Email,
    ]
    await challengeOf(locked)
    const code = wrong(sent()[0]?.code ?? '')
    for (let failures = 0; failures < 3; failures++) {
      await mfa.verify({ method: 'email', contact: locked, kind: 'code', code })
    }
    await challengeOf(spent)
    await challengeOf(spent)
    const repeatable = await challengeOf(again)
    advance(30)
    const tooEarly = await challengeOf(early)
    const before = sent().length
    const answers = await Promise.all([
      mfa.send({ method: 'email', contact: locked }),
      mfa.send({ method: 'email', contact: spent }),
      mfa.send({ method: 'email', contact: again, challenge: repeatable }),
      mfa.send({ method: 'email', contact: early, challenge: tooEarly }),
      mfa.send({ method: 'email', contact: fresh }),
    ])
    const limited = (retryAfterSeconds: number) => ({
      outcome: 'refused',
      refusal: { reason: 'limited', retryAfterSeconds },
    })
    expect(answers).toEqual([
      { outcome: 'refused', refusal: { reason: 'locked', retryAfterSeconds: 1_770 } },
      limited(570),
      expect.objectContaining({ outcome: 'sent', challenge: repeatable, resendInSeconds: 60 }),
      limited(30),
      expect.objectContaining({ outcome: 'sent', resendInSeconds: 30 }),
    ])
    expect(
      new Set(
        sent()
          .slice(before)
          .map(({ to }) => to),
      ),
    ).toEqual(new Set([again.email, fresh.email]))
  })

  test('sends to the phones of a country as often as its budget allows (R103)', async () => {
    const { mfa, sent } = freshTenant(bench(), { limits: { sendsPerCountryHour: 7 } })
    const numbers = Array.from({ length: 12 }, (_, n) => `+4474001234${10 + n}`)
    const answers = await Promise.all(
      numbers.map((phone) => mfa.send({ method: 'sms', contact: { kind: 'phone', phone } })),
    )
    expect(answers.filter(({ outcome }) => outcome === 'sent')).toHaveLength(7)
    expect(sent()).toHaveLength(7)
  })

  test('evaluates 40 codes in a few statements, each against its own account only (R21 R22)', async () => {
    const { application, mfa: sender, sent } = freshTenant(bench(), { notices: [] })
    const { mfa, counted } = counting(application)
    const contacts = Array.from({ length: 40 }, freshEmail)
    await Promise.all(contacts.map((contact) => sender.send({ method: 'email', contact })))
    const codeOf = ({ email }: Email) => sent().find(({ to }) => to === email)?.code ?? ''
    // Every third user types the code of the user before.
    const isWrong = (n: number) => n % 3 === 2
    const answers = await Promise.all(
      contacts.map((contact, n) => {
        const code = codeOf((isWrong(n) ? contacts[n - 1] : contact) as Email)
        return mfa.verify({ method: 'email', contact, kind: 'code', code })
      }),
    )
    expect(answers.map(({ outcome }) => outcome)).toEqual(
      contacts.map((_, n) => (isWrong(n) ? 'invalid' : 'valid')),
    )
    expect(counted.statements).toBeLessThan(40)
    const rows = await bench().store.query(
      `SELECT account, jsonb_array_length(failures) AS failures FROM account WHERE application = $1`,
      [application.id],
    )
    const failures = new Map(rows.map((row) => [row.account, row.failures]))
    expect(contacts.map(({ email }) => failures.get(`contact:${email}`))).toEqual(
      contacts.map((_, n) => (isWrong(n) ? 1 : 0)),
    )
  })

  test('answers each of several attempts for its own reason (R22 R23 R26)', async () => {
    const { mfa, sent, application } = freshTenant(bench(), {
      notices: [],
      limits: { failuresBeforeLock: 3, attemptsPerChallenge: 3 },
    })
    const emails = Array.from({ length: 6 }, freshEmail) as [Email, Email, Email, Email, Email, Email]
    const [right, mistyped, nearLock, locked, ended, unknown] = emails
    for (const contact of [right, mistyped, nearLock, locked, ended])
      await mfa.send({ method: 'email', contact })
    const codeOf = ({ email }: Email) => sent().find(({ to }) => to === email)?.code ?? ''
    const verify = (contact: Email, code: string) =>
      mfa.verify({ method: 'email', contact, kind: 'code', code })
    for (const contact of [nearLock, nearLock, locked, locked, locked])
      await verify(contact, wrong(codeOf(contact)))
    await verify(ended, codeOf(ended))
    const answers = await Promise.all([
      verify(right, codeOf(right)),
      verify(mistyped, wrong(codeOf(mistyped))),
      verify(nearLock, wrong(codeOf(nearLock))),
      verify(locked, codeOf(locked)),
      verify(ended, codeOf(ended)),
      verify(unknown, '123456'),
    ])
    const refused = { outcome: 'refused', refusal: { reason: 'locked', retryAfterSeconds: 1_800 } }
    const invalid = { outcome: 'invalid' }
    expect(answers).toEqual([{ outcome: 'valid' }, invalid, invalid, refused, invalid, invalid])
    const lockedAccounts = await bench().store.query(
      'SELECT account FROM account WHERE application = $1 AND locked_until > $2 ORDER BY account',
      [application.id, Date.now()],
    )
    expect(lockedAccounts.map(({ account }) => account)).toEqual(
      [nearLock, locked].map(({ email }) => `contact:${email}`).sort(),
    )
  })
}
