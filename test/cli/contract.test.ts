import { describe, expect, it } from 'vitest'
import { runCommand } from '../../src/cli/main.js'
import { everyCase } from '../kit/every-case.js'
import { API_KEY, type Defect, imperfectService } from './imperfect-service.js'

const EMAIL = 'tester@example.com'

/** Runs the command with an API key, and returns what it prints. */
async function contract(args: readonly string[], apiKey = API_KEY) {
  const printed: string[] = []
  const code = await runCommand(['contract', ...args], {
    env: { PATH: process.env.PATH, MFA_API_KEY: apiKey },
    stdin: async () => '',
    out: (text) => void printed.push(text),
    err: (text) => void printed.push(text),
  })
  return { code, text: printed.join('\n') }
}

/** Each defect, and what the command says of it. */
const DEFECTS: readonly (readonly [Defect, RegExp])[] = [
  ['accepts a wrong code', /wrong code with 401: a wrong code is accepted/],
  ['accepts a code twice', /accepts a code once: a code is accepted twice/],
  ['accepts a code twice at once', /several times at once: a code is accepted \d times/],
  ['accepts a code of another user', /its own user only: the code of another user/],
  ['accepts a code for any type', /as nothing else: it is accepted as EMAIL/],
  ['accepts a code of an unknown user', /without an app: a code of an unknown user/],
  ['accepts an old code', /of another time: a code of ten minutes ago/],
  ['accepts a code with more digits', /the whole code: a code of 7 digits/],
  ['has no limit of attempts', /after many wrong ones.*: it is accepted after 20 wrong ones/],
  ['does not say how long to wait', /until when: 429 has no Retry-After/],
  ['answers 200 with an HTML error', /wrong code with 401: .*a web page instead of JSON/],
  ['answers JSON as HTML', /JSON or an empty body: the content type of the answer is text\/plain/],
  ['answers text without a content type', /JSON or an empty body: the content type of the answer is missing/],
  ['answers 400 to a wrong code', /wrong code with 401: .*status 400/],
  ['has one secret for all', /a secret of its own.*: two users get the same secret/],
  ['has short secrets', /a secret of its own.*: a secret has 80 bits/],
  ['checks no key at verify', /the API key at every call: verify works with a wrong API key/],
  [
    'takes a missing user for a refused key',
    /without a user: the client would take the API key for a refused one/,
  ],
  ['shows the code', /a delivered code once.*: the answer to the send has the code/],
  ['accepts a delivered code twice', /a delivered code once.*: it is accepted twice/],
  ['rewrites backup codes', /a backup code once.*: it is refused/],
  ['accepts a backup code twice', /a backup code once.*: it is accepted twice/],
]

describe('countersign contract', () => {
  it('finds no defect in a service that has the published interface, and says what it cannot guarantee', async () => {
    const { baseUrl, command } = await imperfectService()
    const { code, text } = await contract([
      '--base-url',
      baseUrl,
      '--email',
      EMAIL,
      '--code-command',
      command,
    ])
    expect(text).toContain('service.dialect: "published"')
    expect(text).toContain('No defect found.')
    expect(text).not.toContain('cannot tell')
    expect(text).toContain('a code that was sent for one sign-in opens any other')
    expect(code).toBe(0)
  })

  it('finds each defect of a service, and says what is wrong', () =>
    everyCase(DEFECTS, async ([defect, said]) => {
      const { baseUrl, command } = await imperfectService(defect)
      const { code, text } = await contract([
        '--base-url',
        baseUrl,
        '--email',
        EMAIL,
        '--code-command',
        command,
      ])
      const lines = text.split('\n').filter((line) => line.startsWith('DEFECT'))
      expect(lines.join('\n')).toMatch(said)
      expect(code).toBe(1)
    }))

  it('sends nothing without a mailbox, and says what it could not check', async () => {
    const { baseUrl, sent } = await imperfectService()
    const { code, text } = await contract(['--base-url', baseUrl])
    expect(text.match(/^cannot tell .*: give --email and --code-command$/gm)).toHaveLength(2)
    expect(sent()).toBe(0)
    expect(code).toBe(0)
  })

  it('finds where an app is set up and how bodies are encoded, and prints the dialect as JSON', async () => {
    const { baseUrl } = await imperfectService(undefined, { enrollPath: '/v1/mfa/totp', contentType: 'json' })
    const { text } = await contract(['--base-url', baseUrl, '--json'])
    expect(JSON.parse(text)).toMatchObject({
      dialect: { contentType: 'json', paths: { enrollApp: '/v1/mfa/totp' } },
      findings: expect.arrayContaining([{ check: 'accepts a code once', verdict: 'ok' }]),
      notGuaranteed: expect.arrayContaining([expect.stringContaining('nothing tells who has an app')]),
    })
    const elsewhere = await imperfectService(undefined, { enrollPath: '/otp' })
    expect(await contract(['--base-url', elsewhere.baseUrl])).toMatchObject({
      code: 2,
      text: expect.stringContaining('--enroll-path'),
    })
    expect((await contract(['--base-url', elsewhere.baseUrl, '--enroll-path', '/otp'])).code).toBe(0)
  })

  it('cannot tell without a service, a right key or both options of the mailbox', async () => {
    const { baseUrl } = await imperfectService()
    await everyCase(
      [
        [['--base-url', baseUrl, '--email', EMAIL], API_KEY, '--email and --code-command together'],
        [['--base-url', baseUrl], 'k-2', 'does not accept the API key'],
        [['--base-url', 'http://127.0.0.1:1'], API_KEY, 'sets up no authenticator app'],
        [[], API_KEY, 'is MFA_BASE_URL set'],
      ] as const,
      async ([args, key, said]) => {
        const { code, text } = await contract(args, key)
        expect(text).toContain(said)
        expect(code).toBe(2)
      },
    )
  })
})
