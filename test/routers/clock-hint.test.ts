import { describe, expect, it } from 'vitest'
import type { MfaService } from '../../src/index.js'
import { renderView } from '../../src/pages/render.js'
import { everyCase } from '../kit/every-case.js'
import { browserAgent, host, signIn } from '../kit/host.js'
import { login, verify } from '../kit/sign-in.js'
import { standInService } from '../kit/stand-in-service.js'
import { codeView, factorOf, frame } from '../pages/samples.js'

/** An app whose service reports that every wrong code is off by this many time steps. */
function appWithClockSteps(clockSteps: number) {
  const standIn = standInService()
  const service: MfaService = {
    ...standIn.service,
    async verify(request) {
      const answer = await standIn.service.verify(request)
      return answer.outcome === 'invalid' ? { ...answer, clockSteps } : answer
    },
  }
  return host({ standIn, options: { service } }).app
}

describe('an app code that is refused because it is old', () => {
  it('is reported in JSON with its age, consumes an attempt, and does not sign in', async () => {
    const agent = await signIn(appWithClockSteps(-8), 'otto')
    const answer = await verify(agent, '111111', { factor: 'app' }).expect(401)
    expect(answer.body).toMatchObject({ code: 'invalid_code', attemptsLeft: 4, clockSteps: -8 })
    await agent.get('/secret').expect(401)
  })

  it('is explained on the page', async () => {
    const browser = browserAgent(appWithClockSteps(-8))
    await login(browser, 'otto').type('form').expect(200)
    const page = await verify(browser, '111111', { factor: 'app' }).type('form').redirects(1).expect(200)
    expect(page.text).toContain(
      'This code is from about 4 minutes ago, so the clock of your phone seems to be wrong. Set it to automatic.',
    )
  })

  it('is explained in every language', () =>
    everyCase(
      [
        ['de', 'Dieser Code ist etwa 4 Minuten alt'],
        ['es', 'hace aproximadamente 4 minutos'],
        ['fr', 'il y a environ 4 minutes'],
        ['pt', 'cerca de 4 minutos'],
        ['ja', '約4分前'],
      ],
      ([locale, words]) => {
        const message = { tone: 'error', code: 'invalid_code', attemptsLeft: 4, clockSteps: -8 } as const
        expect(renderView(codeView(factorOf('app')), { ...frame, locales: [locale], message })).toContain(
          words,
        )
      },
    ))

  it('does not put the clock in doubt when the user typed slowly', () => {
    const message = { tone: 'error', code: 'invalid_code', attemptsLeft: 4, clockSteps: -2 } as const
    expect(renderView(codeView(factorOf('app')), { ...frame, message })).not.toContain(
      'clock of your phone seems',
    )
  })
})
