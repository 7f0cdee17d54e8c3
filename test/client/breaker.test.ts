import { describe, expect, it } from 'vitest'
import { addBreaker } from '../../src/client/breaker.js'
import { ServiceError, type ServiceErrorCode } from '../../src/errors.js'
import type { CompleteMfaService, MfaService, RequestOf } from '../../src/protocol/service.js'
import type { ServicePart } from '../../src/protocol/verb.js'
import { SECOND, stopClock } from '../kit/clock.js'
import { everyCase } from '../kit/every-case.js'
import { standInService } from '../kit/stand-in-service.js'
import { pair } from './ask.js'
import { answer } from './hostile-service.js'

const contact = { kind: 'phone', phone: '+447700900102' } as const
const message: RequestOf<'send'> = { method: 'sms', contact }
const guess: RequestOf<'verify'> = { method: 'sms', contact, code: '000000', kind: 'code' }

const OUTAGES = ['ERR_MFA_SERVICE_UNAVAILABLE', 'ERR_MFA_SERVICE_TIMEOUT', 'ERR_MFA_SERVICE_ANSWER'] as const
const ANSWERS = ['ERR_MFA_SERVICE_KEY', 'ERR_MFA_SERVICE_REQUEST'] as const

/** A service behind a breaker of three failures. */
function guarded() {
  const clock = stopClock()
  const standIn = standInService()
  const pauses: [ServicePart, boolean][] = []
  const service = addBreaker(standIn.service, { failures: 3 }, (...what) => void pauses.push(what))
  const fail = (code: ServiceErrorCode = 'ERR_MFA_SERVICE_UNAVAILABLE') =>
    standIn.setTrouble(async () => {
      throw new ServiceError(code, 'for the test')
    })
  const codeOf = (call: Promise<{ outcome: string }>) =>
    call.then(
      ({ outcome }) => outcome,
      (error) => error.code,
    )
  return { clock, standIn, service, pauses, fail, heal: () => standIn.setTrouble(undefined), codeOf }
}

const PAUSED = { code: 'ERR_MFA_SERVICE_PAUSED', status: 503 }

describe('the circuit breaker (R77)', () => {
  it('stops calling the service after three failures in a row', () =>
    everyCase(OUTAGES, async (code) => {
      const { service, standIn, pauses, fail } = guarded()
      fail(code)
      for (let call = 0; call < 3; call++) await expect(service.verify(guess)).rejects.toMatchObject({ code })
      expect(pauses).toEqual([['checking', true]])
      for (let call = 0; call < 20; call++) await expect(service.verify(guess)).rejects.toMatchObject(PAUSED)
      expect(standIn.count('verify')).toBe(3)
    }))

  it('counts a refusal as a response', () =>
    everyCase(ANSWERS, async (code) => {
      const { service, standIn, fail } = guarded()
      fail(code)
      for (let call = 0; call < 20; call++)
        await expect(service.verify(guess)).rejects.toMatchObject({ code })
      expect(standIn.count('verify')).toBe(20)
    }))

  it('is never opened by wrong codes and refusals', async () => {
    const { service, standIn } = guarded()
    for (let call = 0; call < 50; call++) expect(await service.verify(guess)).toEqual({ outcome: 'invalid' })
    standIn.service.send = async () => ({ outcome: 'refused', refusal: { reason: 'contact_refused' } })
    const refusing = addBreaker(standIn.service, { failures: 3 }, () => {})
    for (let call = 0; call < 50; call++) expect((await refusing.send(message)).outcome).toBe('refused')
  })

  it('is never opened by an unreachable contact: a 502 response that says so is a response', async () => {
    const { client, service } = await pair(answer(502, { code: 'delivery_failed' }))
    const pauses: ServicePart[] = []
    const guarding = addBreaker(client, { failures: 3 }, (part) => void pauses.push(part))
    for (let call = 0; call < 10; call++) {
      expect(await guarding.send(message)).toMatchObject({ refusal: { reason: 'delivery_failed' } })
    }
    expect(service.calls).toHaveLength(10)
    expect(pauses).toEqual([])
  })

  it('is never opened by a flood of one account, so that it cannot pause the service for others (R139)', async () => {
    const { client, service } = await pair(answer(429, { code: 'account_busy' }))
    const pauses: ServicePart[] = []
    const guarding = addBreaker(client, { failures: 3 }, (part) => void pauses.push(part))
    for (let call = 0; call < 10; call++) {
      await expect(guarding.verify(guess)).rejects.toMatchObject({ code: 'ERR_MFA_SERVICE_BUSY' })
    }
    expect(service.calls).toHaveLength(10)
    expect(pauses).toEqual([])
  })

  it('counts failures in a row, and a response resets the count', async () => {
    const { service, standIn, pauses, fail, heal } = guarded()
    for (let round = 0; round < 5; round++) {
      fail()
      for (let call = 0; call < 2; call++) await expect(service.verify(guess)).rejects.toThrow('for the test')
      heal()
      await service.verify(guess)
    }
    expect(standIn.count('verify')).toBe(15)
    expect(pauses).toEqual([])
  })

  it('pauses for a second, and says so', async () => {
    const { clock, service, standIn, fail } = guarded()
    fail()
    for (let call = 0; call < 3; call++) await expect(service.send(message)).rejects.toThrow()
    clock.move(SECOND - 1)
    await expect(service.send(message)).rejects.toMatchObject({ ...PAUSED, retryAfterSeconds: 1 })
    expect(standIn.count('send')).toBe(3)
    clock.move(1)
    await expect(service.send(message)).rejects.toMatchObject({ code: 'ERR_MFA_SERVICE_UNAVAILABLE' })
    expect(standIn.count('send')).toBe(4)
  })

  it('lets one call check whether the service works again, and then uses it again', async () => {
    const { clock, service, standIn, pauses, fail, heal } = guarded()
    fail()
    for (let call = 0; call < 3; call++) await expect(service.verify(guess)).rejects.toThrow()
    clock.move(SECOND)
    heal()
    const held = standIn.hold()
    const probe = service.verify(guess)
    await held.arrived
    for (let call = 0; call < 20; call++) {
      await expect(service.verify(guess)).rejects.toMatchObject({ ...PAUSED, retryAfterSeconds: 1 })
    }
    expect(standIn.count('verify')).toBe(4)
    held.release()
    expect(await probe).toEqual({ outcome: 'invalid' })
    await Promise.all(Array.from({ length: 20 }, () => service.verify(guess)))
    expect(standIn.count('verify')).toBe(24)
    expect(pauses).toEqual([
      ['checking', true],
      ['checking', false],
    ])
  })

  it('pauses again, and reports it once, as long as each check fails', async () => {
    const { clock, service, standIn, pauses, fail } = guarded()
    fail()
    for (let call = 0; call < 3; call++) await expect(service.verify(guess)).rejects.toThrow()
    for (let round = 1; round <= 4; round++) {
      clock.move(SECOND)
      await expect(service.verify(guess)).rejects.toMatchObject({ code: 'ERR_MFA_SERVICE_UNAVAILABLE' })
      for (let call = 0; call < 5; call++) await expect(service.verify(guess)).rejects.toMatchObject(PAUSED)
      expect(standIn.count('verify')).toBe(3 + round)
    }
    expect(pauses).toEqual([['checking', true]])
  })

  it('checks again after a check that failed because of a bug', async () => {
    const { clock, service, standIn, fail, heal } = guarded()
    fail()
    for (let call = 0; call < 3; call++) await expect(service.verify(guess)).rejects.toThrow()
    clock.move(SECOND)
    standIn.setTrouble(async () => {
      throw new RangeError('a bug')
    })
    await expect(service.verify(guess)).rejects.toThrow(RangeError)
    heal()
    expect(await service.verify(guess)).toEqual({ outcome: 'invalid' })
  })

  it('counts delivering and checking separately', async () => {
    const { service, standIn, codeOf } = guarded()
    const down = addBreaker<CompleteMfaService>(
      {
        ...standIn.service,
        send: async () => Promise.reject(new ServiceError('ERR_MFA_SERVICE_TIMEOUT', 'slow')),
      },
      { failures: 3 },
      () => {},
    )
    for (let call = 0; call < 4; call++) await codeOf(down.send(message))
    expect(await codeOf(down.sendBackupCodes({ method: 'sms', contact }))).toBe('ERR_MFA_SERVICE_PAUSED')
    expect(await codeOf(down.verify(guess))).toBe('invalid')
    expect(await codeOf(down.enrollApp({ contact }))).toBe('prepared')
    expect(await codeOf(service.send(message))).toBe('sent')
  })

  it('counts delivery states separately: they pause nothing else, and nothing else pauses them', async () => {
    const { standIn } = guarded()
    const pauses: [ServicePart, boolean][] = []
    let asked = 0
    const service = addBreaker<MfaService>(
      {
        ...standIn.service,
        deliveryOf: async () => {
          asked++
          throw new ServiceError('ERR_MFA_SERVICE_TIMEOUT', 'slow')
        },
      },
      { failures: 3 },
      (...what) => void pauses.push(what),
    )
    for (let call = 0; call < 10; call++)
      await expect(service.deliveryOf?.({ challenge: 'x' })).rejects.toThrow()
    expect(asked).toBe(3)
    expect(pauses).toEqual([['delivery_state', true]])
    expect((await service.send(message)).outcome).toBe('sent')
    expect((await service.verify(guess)).outcome).toBe('invalid')
    expect(addBreaker(standIn.service, { failures: 3 }, () => {})).not.toHaveProperty('deliveryOf')
  })

  it('does not stay open longer when the clock is set back', async () => {
    const { clock, service, fail, heal } = guarded()
    fail()
    for (let call = 0; call < 3; call++) await expect(service.verify(guess)).rejects.toThrow()
    heal()
    clock.move(-3_600 * SECOND)
    expect(await service.verify(guess)).toEqual({ outcome: 'invalid' })
  })

  it('does not wrap the service when it is turned off', async () => {
    const standIn = standInService()
    expect(addBreaker(standIn.service, false, () => {})).toBe(standIn.service)
  })

  it('passes the other methods of the service on', async () => {
    const standIn = standInService()
    const closed: string[] = []
    const service = addBreaker(
      { ...standIn.service, close: async () => void closed.push('closed') },
      { failures: 3 },
      () => {},
    )
    await service.close?.()
    expect(closed).toEqual(['closed'])
  })
})
