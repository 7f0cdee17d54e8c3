import type { Contact } from 'countersign/protocol'
import { expect, test } from 'vitest'
import { inProcessService } from '../../src/flows/in-process-service.js'
import { advance, type Bench, freshEmail, freshTenant, overStore, wrong } from '../kit.js'

type Email = ReturnType<typeof freshEmail>

/** Requests for codes that arrive at the same time, which share statements. */
export function sendingTogetherSuite(bench: () => Bench): void {
  test('sends each of 40 codes to its own account in a few statements, and every code is accepted once', async () => {
    const { application, sent } = freshTenant(bench())
    const { store } = bench()
    let statements = 0
    const counting = overStore(bench().context, {
      ...store,
      query(...statement) {
        statements++
        return store.query(...statement)
      },
    })
    const mfa = inProcessService(counting, async () => application)
    const contacts = Array.from({ length: 40 }, freshEmail)
    const answers = await Promise.all(contacts.map((contact) => mfa.send({ method: 'email', contact })))
    const ofMessages = statements
    expect(answers.map(({ outcome }) => outcome)).toEqual(contacts.map(() => 'sent'))
    // Recording what became of the messages takes statements too.
    expect(ofMessages).toBeLessThan(40)
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
      await store.query(
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
}
