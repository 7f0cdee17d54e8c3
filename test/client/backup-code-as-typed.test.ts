import { describe, expect, it } from 'vitest'
import { everyCase } from '../kit/every-case.js'
import { host, jsonAgent } from '../kit/host.js'
import { publishedService } from '../kit/published-service.js'
import { login, verify } from '../kit/sign-in.js'

const HAS_CODES = { app: false, keys: false, backupCodes: true }

/** A pending login of bob, whose service has one backup code. */
async function pending(code: string) {
  const service = await publishedService()
  service.setCode('+447700900102', 'PHONE', code)
  const made = host({ options: { service: service.address, recordedFactors: () => HAS_CODES } })
  const agent = jsonAgent(made.app)
  await login(agent, 'bob').expect(200)
  return { ...service, agent }
}

describe('a backup code at a service that does not say what its codes look like', () => {
  it('arrives as the user typed it, without the blanks around it', () =>
    everyCase(['a1b2c3d4', 'A1b2-C3d4', 'oil-OIL-0i1', 'two words'], async (code) => {
      const { agent, state } = await pending(code)
      await verify(agent, ` ${code}\t`, { factor: 'backup' }).expect(200)
      expect(state.evaluated).toEqual([expect.objectContaining({ code })])
    }))

  it('costs an attempt in any spelling, so that spellings are no free guesses', async () => {
    const { agent } = await pending('a1b2c3d4')
    for (const [nr, code] of ['A1B2C3D4', 'a1b2-c3d4', 'a1b2c3d4 x'].entries()) {
      const { body } = await verify(agent, code, { factor: 'backup' }).expect(401)
      expect(body.attemptsLeft).toBe(4 - nr)
    }
  })
})
