import { describe, expect, it } from 'vitest'
import { HOUR, stopClock } from '../kit/clock.js'
import { jsonAgent } from '../kit/host.js'
import {
  recoveringHost,
  requestRecovery,
  signInBy,
  signInByApp,
  tokenIn,
  waitForRecovery,
} from '../recovery/kit.js'

describe('an attacker who sends many requests at once (R94)', () => {
  it('starts one recovery with 200 requests, and each contact is notified once', async () => {
    const made = recoveringHost()
    const { agent } = await signInBy(made, 'alice')
    const answers = await Promise.all(Array.from({ length: 200 }, () => agent.post('/mfa/recover').send({})))
    expect(answers.filter(({ status }) => status !== 200)).toEqual([])
    expect(made.told('recovery_requested')).toHaveLength(1)
    expect(made.toldContacts('recovery_requested')).toHaveLength(2)
  })

  it('cannot have a reminder sent twice, nor lost, by requests at half time', async () => {
    const clock = stopClock()
    const made = recoveringHost()
    const { agent } = await requestRecovery(made)
    clock.move(12 * HOUR)
    await Promise.all([
      ...Array.from({ length: 50 }, () => agent.get('/mfa/recover')),
      ...Array.from({ length: 50 }, () => made.sendDueNotices()),
    ])
    expect(made.toldContacts('recovery_reminder')).toHaveLength(2)
  })

  it.each([0, 1, 2, 3, 4])(
    'either completes the recovery or loses it to the owner, never both (%i)',
    async (nth) => {
      const clock = stopClock()
      const made = recoveringHost()
      await requestRecovery(made)
      await waitForRecovery(made, clock)
      const { agent: attacker } = await signInBy(made, 'alice')
      const token = tokenIn(made.newest('recovery_reminder', '+447700900101'))
      const cancel = () => jsonAgent(made.app).post('/mfa/cancel-recovery').send({ token })
      const complete = () => attacker.post('/mfa/recover/complete').send({})
      const [first, second] = nth % 2 ? [cancel(), complete()] : [complete(), cancel()]
      await Promise.all([first, second, signInByApp(made).catch(() => {})])
      const ends = made.told('recovery_completed').length + made.told('recovery_canceled').length
      expect(ends).toBe(1)
      expect(made.ended).toHaveLength(made.told('recovery_completed').length)
    },
  )
})
