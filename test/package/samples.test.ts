import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Consumer, consumer, ROOT, STRICT_TSCONFIG } from './kit.js'

/** Documents with samples for developers to copy. */
const DOCUMENTS = [
  'docs/mounting.md',
  'docs/options.md',
  'docs/routes.md',
  'docs/dialect.md',
  'docs/diagnostics.md',
  'docs/outage.md',
  'docs/events.md',
  'docs/webhooks.md',
  'docs/testing.md',
  'docs/keys.md',
  'docs/sessions.md',
  'docs/connections.md',
  'docs/notices.md',
  'docs/trusted-devices.md',
  'docs/client.md',
  'docs/approvals.md',
  'docs/recovery.md',
  'docs/tokens.md',
]

/** Declarations that the samples of the documents assume. */
const PRELUDE = `
import express, { type RequestHandler } from 'express'
import session from 'express-session'
import passport from 'passport'
import type { Mfa, MfaOptions as Options, FactorInput as Input, MfaService } from 'countersign'
declare global { namespace Express { interface User { id: string; email: string; phone: string } } }
declare const app: ReturnType<typeof express>
declare const secret: string
declare const apiKey: string
declare const transfer: RequestHandler, changePhone: RequestHandler
declare const mail: { send(message: { to: string; subject: string; text: string }): Promise<{ messageId: string }> }
declare const redis: { readonly isReady: boolean; eval(): Promise<unknown>; evalSha(): Promise<unknown> }
`

/** The users of the host, for samples that use them. */
const HOST_USERS = `
interface FactorRecord { app: boolean; keys: boolean; backupCodes: boolean }
declare global { namespace Express { interface User { passwordVersion: number; mfaRecord?: FactorRecord } } }
declare const users: {
  changePassword(user: Express.User | undefined, password: string): Promise<Express.User>
  demandNewPassword(id: string, notice: { readonly text: string }): void
  find(id: string): Promise<Express.User | undefined>
  removeFactors(id: string, methods: readonly string[]): void
  setPhone(id: string, phone: string): Promise<void>
  update(id: string, change: { mfaRecord: FactorRecord }): Promise<void>
}
`

/** Declarations that the samples about testing assume. */
const KIT = `
import request from 'supertest'
import { type MfaTestKit, signInWithMfa } from 'countersign/testing'
declare const kit: MfaTestKit
declare function openSockets(server: import('node:http').Server): void
declare function test(title: string, run: () => Promise<void>): void
`

/** Declarations that the samples about speech assume. */
const SPEECH = `
import type { SpeechClient } from 'countersign/speech'
declare const speech: SpeechClient
declare const id: string, cancelled: AbortSignal, microphone: AsyncIterable<Uint8Array>, requireSignIn: RequestHandler
declare function save(id: string): Promise<void>
declare function showGrey(text: string): void
declare function append(text: string, startMs: number, endMs: number): void
`

/** Declarations that the samples about tokens assume. */
const TOKENS = `
import cors from 'cors'
declare const refreshTokens: { create(sid: string): Promise<string>; revoke(userId: string): Promise<void> }
declare function sign(claims: object): string
declare const verifyAccessToken: RequestHandler, verifyRefreshToken: RequestHandler
`

/** Declarations that the samples for browsers assume. */
const IN_BROWSER = `
import type { KeyFailureReason } from 'countersign/browser'
declare const button: { hidden: boolean; onclick(): void }
declare const location: { assign(url: string): void }
declare const texts: Record<KeyFailureReason, string>
declare function show(text: string): void
`

describe('the samples of the documents', () => {
  let project: Consumer

  beforeAll(async () => {
    project = await consumer()
    await project.write('package.json', JSON.stringify({ type: 'module' }))
    await project.write('tsconfig.json', JSON.stringify(STRICT_TSCONFIG))
  })

  afterAll(() => project.dispose())

  async function writeSamples(path: string): Promise<void> {
    const samples = await samplesOf(path)
    expect(samples.length, path).toBeGreaterThan(0)
    const files = samples.map((sample, index) => {
      const uses = (name: string) => new RegExp(`\\b${name}\\b`).test(sample)
      const extra = [
        (uses('kit') || uses('test')) &&
          !/const kit/.test(sample) &&
          (/import[^\n]*signInWithMfa/.test(sample) ? KIT.replace(', signInWithMfa', '') : KIT),
        uses('anotherAgent') &&
          "import type { TestAgent } from 'countersign/testing'\ndeclare const agent: TestAgent, anotherAgent: TestAgent",
        uses('speech') && !uses('createSpeechClient') && SPEECH,
        path === 'docs/tokens.md' && TOKENS,
        uses('confirmWithKey') && IN_BROWSER,
        uses('withStepUp') &&
          `import type { StepUpFailure } from 'countersign/browser'
declare const texts: Record<StepUpFailure, string>
declare function show(text: string): void`,
        uses('requireStaff') && 'declare const requireStaff: RequestHandler',
        uses('findInvoice') &&
          'declare function findInvoice(id: string): Promise<{ readonly total: string }>',
        uses('sms') && 'declare const sms: { send(message: { to: string; text: string }): Promise<void> }',
        uses('creationOptions') && 'declare const creationOptions: object, requestOptions: object',
        uses('FactorInput') && 'type FactorInput = Input',
        uses('User') && 'type User = Express.User',
        (uses('users') || uses('passwordVersion')) && HOST_USERS,
        uses('service') && !/\bservice *[:=]/.test(sample) && 'declare const service: MfaService',
        uses('server') &&
          !/const server|\(server\) =>/.test(sample) &&
          "declare const server: import('node:http').Server",
        uses('createMfa') &&
          !/import[^\n]*createMfa/.test(sample) &&
          "import { createMfa } from 'countersign'",
        uses('mfa') && !/const mfa\b/.test(sample) && 'declare const mfa: Mfa',
        /\bfactors(,| })/.test(sample) &&
          !/const factors/.test(sample) &&
          "declare const factors: Options['factors']",
      ].filter(Boolean)
      return project.write(
        `sample-${path.replaceAll(/\W/g, '-')}-${index}.ts`,
        [PRELUDE, ...extra, sample].join('\n'),
      )
    })
    await Promise.all(files)
  }

  it('compile with strict settings', async () => {
    await Promise.all(DOCUMENTS.map(writeSamples))
    expect(await project.tsc()).toBe('')
  })
})

describe('the code in the documents', () => {
  it('reads req.mfa as a strict compiler accepts it, which knows that it may be absent', async () => {
    const folders = ['docs', 'recipes', 'skills', 'service/docs']
    const named = await Promise.all(
      folders.map(async (folder) =>
        (await readdir(join(ROOT, folder), { recursive: true })).map((path) => join(folder, path)),
      ),
    )
    const documents = named.flat().filter((path) => path.endsWith('.md') && !path.includes('node_modules'))
    expect(documents.length).toBeGreaterThan(50)
    const texts = await Promise.all(
      [...documents, 'README.md', 'SECURITY.md'].map(async (path) => readFile(join(ROOT, path), 'utf8')),
    )
    const blocks = texts.flatMap((text) => text.match(/^```(?:[jt]s)\n[\s\S]*?^```$/gm) ?? [])
    expect(blocks.length).toBeGreaterThan(60)
    expect(blocks.flatMap((block) => block.match(/.*req\.mfa\.\w+.*/g) ?? [])).toEqual([])
  })
})

/** The TypeScript samples of a Markdown file. */
async function samplesOf(path: string): Promise<string[]> {
  const text = await readFile(join(ROOT, path), 'utf8')
  return [...text.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = '']) => code)
}
