import { randomBytes } from 'node:crypto'
import type { Request } from 'express'
import * as z from 'zod'
import { digestOf } from '../digest.js'
import { sessionEnded } from '../errors.js'
import { readObject } from '../json.js'
import type { StoredTokenLogin, TokenLogins } from '../stores/trust/token-logins.js'
import { type LogOut, showUser } from './passport-request.js'
import { isPendingRecord } from './record-text.js'

/*
 * The login of a client that keeps tokens and no cookie (R150). The client holds a reference of 256 random bits, and the store what a
 * session would hold, under the hash of the reference. It has the functions of express-session and Passport that `store.ts` and
 * `log-in.ts` call, so that nothing above them knows whether a request has a session or a reference.
 */

/** The length of an item that the smallest store of a host holds, in characters. */
const MAX_LENGTH = 4_000

/** Parallel requests of one client change a login one after the other. */
const MOST_TRIES = 20

/** The facts of a login that no session holds. */
const aboutSchema = z.object({
  userId: z.string(),
  /** How often the user's sessions had ended before it began. */
  generation: z.number(),
  /** The place that it takes among the open logins of its user. */
  place: z.string(),
  /** For what is under way beside a token: the login of the token, and what that login had proven. */
  of: z.object({ sid: z.string().optional(), login: z.unknown().optional() }).optional(),
})

/** The part of a login that is stored beside its record. */
export type AboutLogin = Readonly<z.output<typeof aboutSchema>>

const storedSchema = aboutSchema.extend({ mfa: z.unknown().optional(), returnTo: z.unknown().optional() })

function parseContent({ text }: StoredTokenLogin) {
  return storedSchema.parse(JSON.parse(text))
}

type Done = (error?: unknown) => void

/** Takes the place of express-session's session. */
class LoginSession {
  readonly #login: TokenLogin
  readonly cookie = {}
  mfa?: unknown
  returnTo?: unknown

  constructor(login: TokenLogin, content: { readonly mfa?: unknown; readonly returnTo?: unknown } = {}) {
    this.#login = login
    if (content.mfa !== undefined) this.mfa = content.mfa
    if (content.returnTo !== undefined) this.returnTo = content.returnTo
  }

  save(done: Done): void {
    this.#login.write().then(() => done(), done)
  }

  regenerate(done: Done): void {
    this.#login.store.generate()
    done()
  }
}

/** How a login begins. */
interface Beginning {
  readonly about: AboutLogin
  /** Defaults to a new one. */
  readonly reference?: string
  readonly mfa?: (sessionId: string) => unknown
}

/** A login of a client without a cookie, in the place of a session. */
export class TokenLogin {
  /** `undefined` after the login ended in this request. */
  session: LoginSession | undefined
  /** The credentials that follow are tokens: nothing of this login is stored any more. */
  isComplete = false
  /** Whether the ends of the user's sessions were looked up for it. */
  isVouched = false
  about: AboutLogin
  /** The value that the client keeps of its trusted device from now on, and sends as `MFA-Device`. `undefined` if it does not change. */
  device: string | undefined
  /** The reference that the client sent. */
  readonly sent: string | undefined
  private readonly logins: TokenLogins
  private reference: string
  /** The id of the session: the hash of the reference. */
  id: string
  private stored: StoredTokenLogin | undefined

  constructor(logins: TokenLogins, { about, reference, mfa }: Beginning, sent?: string) {
    this.logins = logins
    this.about = about
    this.sent = sent
    this.reference = reference ?? newReference()
    this.id = digestOf(this.reference)
    this.session = new LoginSession(this, { mfa: mfa?.(this.id) })
  }

  /** The login of a reference that a client sent. */
  static async find(logins: TokenLogins, reference: string): Promise<TokenLogin | undefined> {
    const stored = isReference(reference) ? await logins.read(digestOf(reference)) : undefined
    if (!stored) return undefined
    const { mfa, returnTo, ...about } = parseContent(stored)
    const login = new TokenLogin(logins, { about, reference }, reference)
    login.session = new LoginSession(login, { mfa, returnTo })
    login.stored = stored
    return login
  }

  /** The reference that the client sends from now on, where that differs from what it sent. */
  get news(): { readonly login: string; readonly expiresAt: string } | undefined {
    if (!this.stored || this.reference === this.sent) return undefined
    return { login: this.reference, expiresAt: new Date(this.stored.expiresAt).toISOString() }
  }

  /** In the place of express-session's store. */
  readonly store = {
    get: (id: string, done: (error: unknown, session?: unknown) => void) => {
      const read = async () => {
        if (id === this.id && !this.stored) return this.session && { ...this.session }
        const found = await this.logins.read(id)
        return found && parseContent(found)
      }
      read().then((found) => done(null, found), done)
    },
    destroy: (id: string, done: Done) => {
      // Taken before anything follows, so that of parallel requests one goes on.
      const isStored = id !== this.id || this.stored !== undefined
      const take = async () => {
        if (isStored && !(await this.logins.take(id))) throw sessionEnded()
      }
      take().then(() => done(), done)
    },
    generate: () => {
      this.reference = newReference()
      this.id = digestOf(this.reference)
      this.stored = undefined
      this.session = new LoginSession(this)
    },
  }

  /** In the place of Passport's `req.logIn`: the login goes on under another reference, or is complete. */
  readonly logIn = (req: Request, user: Express.User, done: Done): void => {
    showUser(req, user)
    const before = this.session?.mfa
    if (!this.session) return done(sessionEnded())
    this.session.regenerate((error) => {
      if (error) return done(error)
      const now = this.session?.mfa
      this.isComplete = !isOpen(now)
      // An end that this login made itself spared it.
      const isEndOfOwn = before !== undefined && getLastEnd(now) !== getLastEnd(before)
      if (isEndOfOwn) this.about = { ...this.about, generation: this.about.generation + 1 }
      if (this.session) this.session.save(done)
      else done(sessionEnded())
    })
  }

  /** In the place of Passport's `req.logOut`. */
  readonly logOut: LogOut = (...rest) => {
    const done = rest.find((part) => typeof part === 'function') as Done | undefined
    // It has ended, also if another request ended it.
    this.store.destroy(this.id, () => {
      this.store.generate()
      done?.()
    })
  }

  /** Goes on with what an earlier request has stored under the same reference. `isWriting`: stores it otherwise. */
  async resume(isWriting: boolean): Promise<void> {
    if (!this.isStorable) return
    const stored = { text: this.text(), expiresAt: Date.now() + this.logins.lifeMs }
    const find = () => this.logins.read(this.id)
    const found =
      (await find()) ?? (isWriting && !(await this.logins.add(this.id, stored)) ? await find() : undefined)
    if (found) this.session = new LoginSession(this, parseContent(found))
    if (found || isWriting) this.stored = found ?? stored
  }

  /** Nothing of it is told to the client. */
  withdraw(): void {
    this.stored = undefined
  }

  /** Stores the session, but never one that ended meanwhile. @throws {SessionEndedError} */
  async write(): Promise<void> {
    if (!this.isStorable) return
    const text = this.text()
    const expiresAt = this.stored?.expiresAt ?? Date.now() + this.logins.lifeMs
    const wasStored = this.stored !== undefined
    for (let tries = 1; tries <= MOST_TRIES; tries++) {
      const isWritten = this.stored
        ? await this.logins.swap(this.id, this.stored.text, text)
        : await this.logins.add(this.id, { text, expiresAt })
      if (isWritten) {
        this.stored = { text, expiresAt }
        return
      }
      this.stored = await this.logins.read(this.id)
      if (wasStored && !this.stored) break
    }
    throw sessionEnded()
  }

  /** Beside a token, whatever is under way, if the token names its login; else only what waits for a factor. */
  private get isStorable(): boolean {
    const { of } = this.about
    if (this.isComplete || !this.session) return false
    return of ? of.sid !== undefined : isPendingRecord(this.session.mfa)
  }

  private text(): string {
    const { mfa, returnTo }: Pick<LoginSession, 'mfa' | 'returnTo'> = this.session ?? {}
    const text = JSON.stringify({ ...this.about, mfa, returnTo })
    if (text.length <= MAX_LENGTH) return text
    throw new Error(
      `A login has ${text.length} characters, and a store keeps ${MAX_LENGTH}. Bind a request to shorter fields.`,
    )
  }
}

/** Whether a login stays open: it is pending, or has an approval to be used. */
function isOpen(mfa: unknown): boolean {
  return isPendingRecord(mfa) || readObject(readObject(mfa).approval).granted !== undefined
}

function getLastEnd(mfa: unknown): unknown {
  return readObject(mfa).lastEnd
}

function newReference(): string {
  return randomBytes(32).toString('base64url')
}

function isReference(text: string): boolean {
  return /^[\w-]{43}$/.test(text)
}
