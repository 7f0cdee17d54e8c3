import { describe, expect, it } from 'vitest'
import type { AccountNotice } from '../../src/index.js'
import { everyCase } from '../kit/every-case.js'
import { signIn } from '../kit/host.js'
import { challenge, verify } from '../kit/sign-in.js'
import { begin, tokenClient, tokenHost } from './kit.js'

const FIREFOX = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:128.0) Gecko/20100101 Firefox/128.0'

function noticing() {
  const notices: AccountNotice[] = []
  const made = tokenHost({
    options: {
      trustedDevices: { store: 'memory' },
      urls: { publicUrl: 'https://app.example' },
      notices: { store: 'memory', onNotice: (_user, notice) => void notices.push(notice) },
    },
  })
  return { ...made, notices }
}

/** Signs in on a trusted device, and returns the notice about it. */
async function noticeOf(name: string): Promise<AccountNotice | undefined> {
  const made = noticing()
  const login = await begin(made, 'bob')
  const named = (path: string) =>
    tokenClient(made.app, { login }).post(path).set({ 'MFA-Client': name, 'User-Agent': FIREFOX })
  await named('/mfa/challenge').send({ factor: 'sms' }).expect(200)
  const code = made.standIn.newestCode()
  const { body } = await named('/mfa/verify').send({ code, trust: true }).expect(200)
  const { devices } = (await tokenClient(made.app, { access: body.access }).get('/mfa/devices').expect(200))
    .body
  const [notice] = made.notices
  expect(devices[0].name).toBe(notice?.browser)
  return notice
}

describe('the name of a client without cookies', () => {
  it('is in notices and in the list of trusted devices', () =>
    everyCase(
      [
        ['"Mobile bank; iPhone"', 'Mobile bank on iPhone'],
        ['Mobile bank (beta) 4.2; Android 16', 'Mobile bank (beta) 4.2 on Android 16'],
      ],
      async ([name, shown]) => {
        const notice = await noticeOf(name)
        expect(notice).toMatchObject({ type: 'device_trusted', browser: shown })
        expect(notice?.text).toContain(shown)
      },
    ))

  it('is that of its browser, where it could be anything else than a name', () =>
    everyCase(
      [
        '',
        'Mobile bank',
        'Mobile bank; iPhone; more',
        '<b>Mobile</b>; iPhone',
        'https://evil.example; iPhone',
        'evil.example; iPhone',
        'Call 0770 0900 102; iPhone',
        `${'A'.repeat(33)}; iPhone`,
        'Mobile bank; ',
        'Mobile\tbank; iPhone',
        'Möbile; iPhone',
      ],
      async (name) => expect((await noticeOf(name))?.browser).toBe('Firefox on Windows'),
    ))

  it('is never asked of a client with a session', async () => {
    const made = noticing()
    const agent = await signIn(made.app, 'bob')
    agent.set({ 'MFA-Client': 'Mobile bank; iPhone', 'User-Agent': FIREFOX })
    await challenge(agent, 'sms').expect(200)
    await verify(agent, made.standIn.newestCode(), { trust: true }).expect(200)
    expect(made.notices[0]?.browser).toBe('Firefox on Windows')
  })
})
