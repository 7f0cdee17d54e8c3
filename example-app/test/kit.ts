import type { Server } from 'node:http'
import { createService } from '@countersign/service'
import { createMfa, type MfaOptions } from 'countersign'
import type { Express } from 'express'
import supertest from 'supertest'
import { challenge, verify } from '../../test/kit/sign-in.js'
import { createApp } from '../src/app.js'
import { type Config, readConfig } from '../src/config.js'
import type { VaultContext } from '../src/context.js'
import { relyingPartyAt, VAULT_APPLICATION } from '../src/embedded-service.js'
import { companyClient } from '../src/identity-provider.js'
import { mfaOptions } from '../src/mfa.js'
import { inboxOf } from '../src/open-vault.js'
import { type SeedContext, seed } from '../src/seed.js'
import { SEED_USERS } from '../src/seed-users.js'
import { pgliteDatabase } from '../src/store/database.js'
import { ledgerIn } from '../src/store/ledger.js'
import { messagesIn } from '../src/store/messages.js'
import { scryptPasswords } from '../src/store/passwords.js'
import { signInFailuresIn } from '../src/store/sign-in-failures.js'
import { streamTicketsIn } from '../src/store/stream-tickets.js'
import { createTables } from '../src/store/tables.js'
import { usersIn, type VaultUser } from '../src/store/users.js'

/** A seeded Vault with its service, all of it real and in memory. */
export interface TestVault {
  readonly app: Express
  readonly context: VaultContext
  /** The options of its `mfa`. */
  readonly options: MfaOptions<VaultUser>
  readonly seeding: SeedContext
  /** Accepts the streams of the service on a server of the app. */
  attach(server: Server): void
  /** A new browser that requests JSON. */
  browser(): Browser
  /** A new browser that requests pages and sends forms. */
  pages(): Browser
  /** The code in the newest message to a contact. */
  codeSentTo(to: string): Promise<string>
  /** Stops the service. Vault goes on without it. */
  stopService(): Promise<void>
  close(): Promise<void>
}

export type Browser = ReturnType<typeof supertest.agent>

/** The key of the inbox in tests. */
export const INBOX_KEY = 'the key of the inbox in tests'.replaceAll(' ', '-')

const SECRET = 'a secret for tests that is long enough'

/** Passwords with a cheap hash: with the cost factors of the app, hashing would dominate the time of the tests. */
export const quickPasswords = scryptPasswords({ N: 2 ** 10, r: 8, p: 1 })

export async function openTestVault(env: Record<string, string> = {}): Promise<TestVault> {
  const config: Config = readConfig(env)
  const db = await pgliteDatabase('memory://')
  await createTables(db)
  const service = await createService({
    dataDir: 'memory://',
    ...VAULT_APPLICATION,
    secret: SECRET,
    delivery: env.SERVICE_DELIVERY ?? 'inbox',
    inboxKey: INBOX_KEY,
    ...relyingPartyAt(config.publicUrl),
  })
  const users = usersIn(db, quickPasswords)
  const ledger = ledgerIn(db)
  const messages = messagesIn(db)
  const inbox = inboxOf(service, messages)
  const options = { ...mfaOptions(config, service.mfa, users, { db, messages }), onEvent: undefined }
  const context: VaultContext = {
    config,
    users,
    ledger,
    signInFailures: signInFailuresIn(db),
    mfa: createMfa(options),
    codes: service.mfa,
    transcriber: service.mfa,
    streamTickets: streamTicketsIn(db),
    keys: service.mfa.keys,
    sessionSecret: SECRET,
    inbox,
    seedUsers: SEED_USERS,
    company: companyClient(),
  }
  const seeding = { seedUsers: SEED_USERS, users, ledger, service }
  await seed(seeding)
  const app = createApp(context)
  let stopped: Promise<void> | undefined
  const stopService = () => {
    stopped ??= service.close()
    return stopped
  }
  return {
    app,
    context,
    options,
    seeding,
    attach: (server) => service.attach(server),
    browser: () => supertest.agent(app).accept('application/json').set('MFA-Inbox-Key', INBOX_KEY),
    pages: () => supertest.agent(app).accept('text/html').type('form').set('MFA-Inbox-Key', INBOX_KEY),
    async codeSentTo(to) {
      const text = (await inbox?.messages({ to }))?.[0]?.text ?? ''
      const code = /\b\d{6}\b/.exec(text)?.[0]
      if (!code) throw new Error(`No code was sent to ${to}; the newest message is: ${text}`)
      return code
    },
    stopService,
    async close() {
      await stopService()
      await db.close()
    },
  }
}

export const passwordOf = (username: string): string => {
  const person = SEED_USERS.find((one) => one.username === username)
  if (!person) throw new Error(`There is no user ${username}.`)
  return person.password
}

/** Submits name and password. */
export async function signIn(browser: Browser, username: string): Promise<supertest.Response> {
  return browser.post('/login').send({ username, password: passwordOf(username) })
}

/** Signs bob in with both factors. */
export async function signInBob(vault: TestVault): Promise<Browser> {
  const browser = vault.browser()
  await signIn(browser, 'bob').then(expectStatus(200))
  await challenge(browser, 'sms').then(expectStatus(200))
  const code = await vault.codeSentTo('+12025550122')
  await verify(browser, code, { factor: 'sms' }).then(expectStatus(200))
  return browser
}

export const expectStatus = (status: number) => (response: supertest.Response) => {
  if (response.status === status) return response
  throw new Error(`Expected ${status}, got ${response.status}: ${response.text}`)
}

/**
 * Withdraws money: a code by text message approves the amount, and the withdrawal is sent again. Returns the request that the test
 * expects something of.
 */
export async function withdraw(vault: TestVault, browser: Browser, amount: number, factor: ApprovingFactor) {
  const asked = await browser.post('/vault/withdraw').send({ amount })
  if (asked.status !== 401) return asked
  const approval: string = asked.body.approval.id
  const started = await browser.post('/mfa/challenge').send({ factor: factor.method, approval })
  if (started.status !== 200) throw new Error(JSON.stringify(started.body))
  const code = 'code' in factor ? factor.code : await vault.codeSentTo(factor.to)
  const given = await browser.post('/mfa/verify').send({ code, factor: factor.method, approval })
  if (given.status !== 200) throw new Error(JSON.stringify(given.body))
  return browser.post('/vault/withdraw').send({ amount })
}

/** The factor that approves a withdrawal. */
type ApprovingFactor =
  | { readonly method: 'sms'; readonly to: string }
  | { readonly method: 'app'; readonly code: string }
