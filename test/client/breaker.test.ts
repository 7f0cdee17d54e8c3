import { describe, expect, it } from 'vitest'
import { withBreaker } from '../../src/client/breaker.js'
import { ServiceError, type ServiceErrorCode } from '../../src/errors.js'
import type { SendRequest, ServicePart, VerifyRequest } from '../../src/protocol/service.js'
import { SECOND, stopClock } from '../kit/clock.js'
import { standInService } from '../kit/stand-in-service.js'
import { pair } from './ask.js'
import { answer } from './hostile-service.js'

const contact = { kind: 'phone', phone: '+447700900102' } as const
const message: SendRequest = { method: 'sms', contact }
const guess: VerifyRequest = { method: 'sms', contact, code: '000000', kind: 'code' }

const OUTAGES = ['ERR_MFA_SERVICE_UNAVAILABLE', 'ERR_MFA_SERVICE_TIMEOUT', 'ERR_MFA_SERVICE_ANSWER'] as const
const ANSWERS = ['ERR_MFA_SERVICE_KEY', 'ERR_MFA_SERVICE_REQUEST'] as const

/** A service behind a breaker of three failures and ten seconds. */
function guarded() {
  const clock = stopClock()
  const standIn = standInService()
  const told: [ServicePart, number | undefined][] = []
  const service = withBreaker(
    standIn.service,
    { failures: 3, pauseMs: 10_000 },
    (...what) => void told.push(what),
  )
  const fail = (code: ServiceErrorCode = 'ERR_MFA_SERVICE_UNAVAILABLE') =>
    standIn.setTrouble(async () => {
      throw new ServiceError(code, 'for the test')
    })
  const codeOf = (call: Promise<{ outcome: string }>) =>
    call.then(
      ({ outcome }) => outcome,
      (error) => error.code,
    )
  return { clock, standIn, service, told, fail, heal: () => standIn.setTrouble(undefined), codeOf }
}

const PAUSED = { code: 'ERR_MFA_SERVICE_PAUSED', status: 503 }

describe('R77 the circuit breaker', () => {
  it.each(OUTAGES)('leaves the service alone after three %s in a row', async (code) => {
    const { service, standIn, told, fail } = guarded()
    fail(code)
    for (let call = 0; call < 3; call++) await expect(service.verify(guess)).rejects.toMatchObject({ code })
    expect(told).toEqual([['checking', 10]])
    for (let call = 0; call < 20; call++) await expect(service.verify(guess)).rejects.toMatchObject(PAUSED)
    expect(standIn.count('verify')).toBe(3)
  })

  it.each(ANSWERS)('takes %s for an answer', async (code) => {
    const { service, standIn, fail } = guarded()
    fail(code)
    for (let call = 0; call < 20; call++) await expect(service.verify(guess)).rejects.toMatchObject({ code })
    expect(standIn.count('verify')).toBe(20)
  })

  it('is never tripped by wrong codes and refusals', async () => {
    const { service, standIn } = guarded()
    for (let call = 0; call < 50; call++) expect(await service.verify(guess)).toEqual({ outcome: 'invalid' })
    standIn.service.send = async () => ({ outcome: 'refused', refusal: { reason: 'contact_refused' } })
    const refusing = withBreaker(standIn.service, { failures: 3, pauseMs: 10_000 }, () => {})
    for (let call = 0; call < 50; call++) expect((await refusing.send(message)).outcome).toBe('refused')
  })

  it('is never tripped by a contact that nothing can be delivered to: a 502 that says so is an answer', async () => {
    const { client, service } = await pair(answer(502, { code: 'delivery_failed' }))
    const told: ServicePart[] = []
    const guarding = withBreaker(client, { failures: 3, pauseMs: 10_000 }, (part) => void told.push(part))
    for (let call = 0; call < 10; call++) {
      expect(await guarding.send(message)).toMatchObject({ refusal: { reason: 'delivery_failed' } })
    }
    expect(service.calls).toHaveLength(10)
    expect(told).toEqual([])
  })

  it('counts failures in a row: one answer sets it to zero', async () => {
    const { service, standIn, told, fail, heal } = guarded()
    for (let round = 0; round < 5; round++) {
      fail()
      for (let call = 0; call < 2; call++) await expect(service.verify(guess)).rejects.toThrow('for the test')
      heal()
      await service.verify(guess)
    }
    expect(standIn.count('verify')).toBe(15)
    expect(told).toEqual([])
  })

  it('tells when to come back, by the second', async () => {
    const { clock, service, fail } = guarded()
    fail()
    for (let call = 0; call < 3; call++) await expect(service.send(message)).rejects.toThrow()
    await expect(service.send(message)).rejects.toMatchObject({ ...PAUSED, retryAfterSeconds: 10 })
    clock.move(8_500)
    await expect(service.send(message)).rejects.toMatchObject({ ...PAUSED, retryAfterSeconds: 2 })
  })

  it('lets one call try whether the service is back, and uses it again by itself', async () => {
    const { clock, service, standIn, told, fail, heal } = guarded()
    fail()
    for (let call = 0; call < 3; call++) await expect(service.verify(guess)).rejects.toThrow()
    clock.move(10 * SECOND)
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
    expect(told).toEqual([
      ['checking', 10],
      ['checking', undefined],
    ])
  })

  it('pauses anew, and tells it once, as long as each try fails', async () => {
    const { clock, service, standIn, told, fail } = guarded()
    fail()
    for (let call = 0; call < 3; call++) await expect(service.verify(guess)).rejects.toThrow()
    for (let round = 1; round <= 4; round++) {
      clock.move(10 * SECOND)
      await expect(service.verify(guess)).rejects.toMatchObject({ code: 'ERR_MFA_SERVICE_UNAVAILABLE' })
      for (let call = 0; call < 5; call++) await expect(service.verify(guess)).rejects.toMatchObject(PAUSED)
      expect(standIn.count('verify')).toBe(3 + round)
    }
    expect(told).toEqual([['checking', 10]])
  })

  it('tries again after a try that tripped over a bug', async () => {
    const { clock, service, standIn, fail, heal } = guarded()
    fail()
    for (let call = 0; call < 3; call++) await expect(service.verify(guess)).rejects.toThrow()
    clock.move(10 * SECOND)
    standIn.setTrouble(async () => {
      throw new RangeError('a bug')
    })
    await expect(service.verify(guess)).rejects.toThrow(RangeError)
    heal()
    expect(await service.verify(guess)).toEqual({ outcome: 'invalid' })
  })

  it('keeps delivering and checking apart', async () => {
    const { service, standIn, codeOf } = guarded()
    const down = withBreaker(
      {
        ...standIn.service,
        send: async () => Promise.reject(new ServiceError('ERR_MFA_SERVICE_TIMEOUT', 'slow')),
      },
      { failures: 3, pauseMs: 10_000 },
      () => {},
    )
    for (let call = 0; call < 4; call++) await codeOf(down.send(message))
    expect(await codeOf(down.sendBackupCodes({ method: 'sms', contact }))).toBe('ERR_MFA_SERVICE_PAUSED')
    expect(await codeOf(down.verify(guess))).toBe('invalid')
    expect(await codeOf(down.enrollApp({ contact }))).toBe('prepared')
    expect(await codeOf(service.send(message))).toBe('sent')
  })

  it('keeps word of messages apart: it closes nothing else, and is closed by nothing else', async () => {
    const { standIn } = guarded()
    const told: [ServicePart, number | undefined][] = []
    let asked = 0
    const service = withBreaker(
      {
        ...standIn.service,
        deliveryOf: async () => {
          asked++
          throw new ServiceError('ERR_MFA_SERVICE_TIMEOUT', 'slow')
        },
      },
      { failures: 3, pauseMs: 10_000 },
      (...what) => void told.push(what),
    )
    for (let call = 0; call < 10; call++)
      await expect(service.deliveryOf?.({ challenge: 'x' })).rejects.toThrow()
    expect(asked).toBe(3)
    expect(told).toEqual([['delivery_state', 10]])
    expect((await service.send(message)).outcome).toBe('sent')
    expect((await service.verify(guess)).outcome).toBe('invalid')
    expect(withBreaker(standIn.service, { failures: 3, pauseMs: 10_000 }, () => {})).not.toHaveProperty(
      'deliveryOf',
    )
  })

  it('is not held open by a clock that is set back', async () => {
    const { clock, service, fail, heal } = guarded()
    fail()
    for (let call = 0; call < 3; call++) await expect(service.verify(guess)).rejects.toThrow()
    heal()
    clock.move(-3_600 * SECOND)
    expect(await service.verify(guess)).toEqual({ outcome: 'invalid' })
  })

  it('is not there when it is switched off', async () => {
    const standIn = standInService()
    expect(withBreaker(standIn.service, false, () => {})).toBe(standIn.service)
  })

  it('passes on what else the service can do', async () => {
    const standIn = standInService()
    const closed: string[] = []
    const service = withBreaker(
      { ...standIn.service, close: async () => void closed.push('closed') },
      { failures: 3, pauseMs: 10_000 },
      () => {},
    )
    await service.close?.()
    expect(closed).toEqual(['closed'])
  })
})
