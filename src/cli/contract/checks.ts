import { httpTransport } from '../../client/http-transport.js'
import { type HttpService, httpService } from '../../client/service.js'
import type { Answer, Transport } from '../../client/transport.js'
import { PUBLISHED } from '../../options/dialect.js'
import type { ServiceSettings } from '../../options/service.js'
import { type Contact, formatUser } from '../../protocol/contact.js'
import { type AppUser, enrollUser, nextStep, throwAwayContact } from './app-user.js'

/** A mailbox of the tester, whose newest message can be read. */
export interface TestMailbox {
  readonly contact: Contact
  newest(): Promise<string>
}

/** The parts that one check needs, fresh for each of them. */
interface Call {
  readonly settings: ServiceSettings
  /** @throws {Error} when there is none, so that nothing is sent. */
  readonly inbox: TestMailbox
  readonly service: HttpService
  readonly transport: Transport
  readonly paths: { readonly send: string; readonly verify: string }
  enroll(): Promise<AppUser>
  /** A user who has confirmed the app and whose current code is unused. */
  confirmed(): Promise<AppUser>
  /** Sends a code of an app, and returns the answer as it is. */
  verify(user: AppUser, code: string): Promise<Answer>
}

/** Returns what is wrong, if anything is. */
type Check = (call: Call) => Promise<string | undefined>

/** How many wrong codes are sent before the right one must be refused. */
const ATTEMPTS = 20

/** The behaviour of a good service, and how it is checked. */
export const CHECKS: Readonly<Record<string, Check>> = {
  'accepts the code of an authenticator app': async ({ enroll }) => {
    const user = await enroll()
    return (await user.accepts(user.code())) ? undefined : 'the first right code is refused'
  },
  'answers a right code with JSON or an empty body': async ({ enroll, verify }) => {
    const user = await enroll()
    const { body, contentType } = await verify(user, user.code())
    const isRight = body.trim() === '' || contentType.includes('json')
    return isRight ? undefined : `the content type of the answer is ${contentType || 'missing'}`
  },
  'answers a wrong code with 401': async ({ confirmed, verify }) => {
    const user = await confirmed()
    const { status } = await verify(user, wrongCode(user))
    if (status !== 401 && status !== 200) return `the answer has status ${status}`
    return (await user.accepts(wrongCode(user, 1))) ? 'a wrong code is accepted' : undefined
  },
  'compares the whole code': async ({ confirmed }) => {
    const user = await confirmed()
    const code = user.code()
    for (const typed of ['', code.slice(0, -1), `0${code}`, `${code}0`]) {
      if (await user.accepts(typed)) return `a code of ${typed.length} digits is accepted for one of 6`
    }
    return undefined
  },
  'accepts a code once': async ({ enroll }) => {
    const user = await enroll()
    const code = user.code()
    await user.accepts(code)
    return (await user.accepts(code)) ? 'a code is accepted twice' : undefined
  },
  'accepts a code once when it arrives several times at once': async ({ enroll }) => {
    const user = await enroll()
    const code = user.code()
    const all = await Promise.all(Array.from({ length: 5 }, () => user.accepts(code)))
    const count = all.filter(Boolean).length
    return count > 1 ? `a code is accepted ${count} times` : undefined
  },
  'accepts a code for its own user only': async ({ confirmed }) => {
    const [user, other] = [await confirmed(), await confirmed()]
    return (await other.accepts(user.code())) ? 'the code of another user is accepted' : undefined
  },
  'accepts the code of an app as nothing else': async ({ confirmed }) => {
    const user = await confirmed()
    return (await user.accepts(user.code(), 'email')) ? 'it is accepted as EMAIL' : undefined
  },
  'refuses codes of a user without an app': async ({ service }) => {
    const request = { method: 'app', contact: throwAwayContact(), code: '123456', kind: 'code' } as const
    const { outcome } = await service.verify(request)
    return outcome === 'valid' ? 'a code of an unknown user is accepted' : undefined
  },
  'refuses codes of another time': async ({ confirmed }) => {
    const user = await confirmed()
    if (await user.accepts(user.code(-20))) return 'a code of ten minutes ago is accepted'
    return (await user.accepts(user.code(20))) ? 'a code of ten minutes ahead is accepted' : undefined
  },
  'refuses even the right code after many wrong ones, and says until when': async ({ confirmed, verify }) => {
    const user = await confirmed()
    for (let count = 0; count < ATTEMPTS; count += 1) {
      const { status, retryAfterSeconds } = await verify(user, wrongCode(user, count))
      if (status === 429) return retryAfterSeconds === undefined ? '429 has no Retry-After' : undefined
    }
    return (await user.accepts(user.code())) ? `it is accepted after ${ATTEMPTS} wrong ones` : undefined
  },
  'gives every app a secret of its own, of at least 128 bits': async ({ enroll }) => {
    const [{ secret }, other] = [await enroll(), await enroll()]
    if (secret === other.secret) return 'two users get the same secret'
    const bits = secret.replaceAll('=', '').length * 5
    return bits < 128 ? `a secret has ${bits} bits` : undefined
  },
  'checks the API key at every call': async ({ enroll, settings }) => {
    const user = await enroll()
    const wrongKey = httpService({ ...settings, apiKey: () => `${settings.apiKey().slice(0, -1)}_` })
    // It may refuse in any way.
    const isDone = (answer: Promise<{ readonly outcome: string }>) =>
      answer.then(({ outcome }) => outcome !== 'refused' && outcome !== 'invalid').catch(() => false)
    const { contact } = user
    try {
      const request = { method: 'app', contact, code: user.code(), kind: 'confirm' } as const
      if (await isDone(wrongKey.verify(request))) return 'verify works with a wrong API key'
      const prepared = await isDone(wrongKey.enrollApp({ contact: throwAwayContact() }))
      return prepared ? 'an app is set up with a wrong API key' : undefined
    } finally {
      await wrongKey.close()
    }
  },
  'does not answer 401 to a valid API key without a user': async ({ transport, paths }) => {
    const { status } = await transport.post(paths.send, {})
    return status === 401 ? 'the client would take the API key for a refused one' : undefined
  },
  'accepts a delivered code once, for its own user': async ({ inbox, service, transport, paths }) => {
    const { contact } = inbox
    const sent = await transport.post(paths.send, { User: formatUser(contact), Type: 'EMAIL' })
    const [code] = /\b\d{4,10}\b/.exec(await inbox.newest()) ?? []
    if (code === undefined) return 'the message has no code'
    if (sent.body.includes(code)) return 'the answer to the send has the code'
    const accepts = async (to: Contact) => {
      const { outcome } = await service.verify({ method: 'email', contact: to, code, kind: 'code' })
      return outcome === 'valid'
    }
    if (await accepts(throwAwayContact())) return 'it is accepted for another user'
    if (!(await accepts(contact))) return 'it is refused'
    return (await accepts(contact)) ? 'it is accepted twice' : undefined
  },
  'accepts a backup code once, as it was delivered': async ({ inbox, service }) => {
    const { contact } = inbox
    const { outcome } = await service.sendBackupCodes({ method: 'email', contact })
    const message = outcome === 'refused' ? '' : await inbox.newest()
    const [code] = /\b(?=\S*\d)[A-Za-z0-9]{4,}(?:-[A-Za-z0-9]{3,})*\b/.exec(message) ?? []
    if (code === undefined) return 'no message has backup codes'
    const accepts = async () =>
      (await service.verify({ method: 'email', contact, code, kind: 'backup' })).outcome === 'valid'
    if (!(await accepts())) return 'it is refused'
    return (await accepts()) ? 'it is accepted twice' : undefined
  },
}

/** Runs one check, with connections of its own. Returns what is wrong. */
export async function runCheck(
  check: Check,
  settings: ServiceSettings,
  mailbox: TestMailbox | undefined,
): Promise<string | undefined> {
  const { paths } = settings.dialect === 'detect' ? PUBLISHED : settings.dialect
  const service = httpService(settings)
  const transport = httpTransport(settings)
  const enroll = () => enrollUser(service)
  const call: Call = {
    ...{ settings, service, transport, paths, enroll },
    get inbox() {
      if (mailbox) return mailbox
      throw new Error('give --email and --code-command')
    },
    async confirmed() {
      const user = await enroll()
      // Most services accept the code before the current one, which leaves the current one for the check.
      if (await user.accepts(user.code(-1))) return user
      await user.accepts(user.code())
      await nextStep()
      return user
    },
    verify: ({ contact }, code) =>
      transport.post(paths.verify, { User: formatUser(contact), Type: 'APP', Code: code }),
  }
  try {
    return await check(call)
  } finally {
    await Promise.all([service.close(), transport.close()])
  }
}

/** A code that the app shows at no time near now. */
function wrongCode(user: AppUser, nth = 0): string {
  const near = [-2, -1, 0, 1, 2].map((steps) => user.code(steps))
  let code = 111_111 + nth * 7
  while (near.includes(String(code))) code += 1
  return String(code)
}
