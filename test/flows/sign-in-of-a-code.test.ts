import { describe, expect, it } from 'vitest'
import { claims, evidencedHost } from '../assurance/kit.js'
import { MINUTE, stopClock } from '../kit/clock.js'
import { host, jsonAgent } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'

const FIREFOX = 'Mozilla/5.0 (Windows NT 10.0; rv:140.0) Gecko/20100101 Firefox/140.0'

/** The facts about the sign-in that the service was told, with each code. */
const toldBy = ({ standIn }: Pick<ReturnType<typeof host>, 'standIn'>) =>
  standIn.calls
    .filter(({ verb }) => verb === 'send')
    .map(({ request }) => (request as { readonly signIn?: unknown }).signIn)

describe('the service, for an email with a code,', () => {
  it('is told from where the user signs in after a password, by names of ours, and not for a step-up', async () => {
    const clock = stopClock()
    const made = host({ options: { location: () => 'Lyon, France' } })
    const agent = jsonAgent(made.app)
    const send = () => challenge(agent, 'sms').set('User-Agent', FIREFOX).expect(200)
    await login(agent, 'bob').expect(200)
    await send()
    await verify(agent, made.standIn.newestCode()).expect(200)
    clock.move(20 * MINUTE)
    await agent.post('/transfer').expect(401)
    await send()
    expect(toldBy(made)).toEqual([
      { browser: 'Firefox', system: 'Windows', location: 'Lyon, France' },
      undefined,
    ])
  })

  it('is told nothing of a browser that is not in the list, nor of a place that the host does not know', async () => {
    const made = host()
    const agent = jsonAgent(made.app)
    await login(agent, 'bob').expect(200)
    await challenge(agent, 'sms').set('User-Agent', '<b>curl</b>').expect(200)
    expect(toldBy(made)).toEqual([{}])
  })

  it('is told of no password where an issuer signed the user in', async () => {
    const made = evidencedHost({ issuers: { [claims().issuer]: { amr: { hwk: 'strong' } } } })
    const { agent } = await made.signIn('bob', claims({ amr: ['pwd'] }))
    await challenge(agent, 'sms').expect(200)
    expect(toldBy(made)).toEqual([undefined])
  })
})
