import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isLong } from '../kit/long.js'
import { type Consumer, consumer, EXPRESS_4_TYPES, EXPRESS_5_TYPES, EXPRESS_APP } from './kit.js'

/** Uses every entry, the types that extend those of Express, and a user type of the app. */
const APP = `
import type { Request, Response } from 'express'
import {
  createMfa, mfaRouter, mfaSession, MfaStrategy, requireMfa, ServiceError, startMfa, type Mfa, type MfaOptions, type MfaService,
} from 'countersign'
import { parseUser, ServiceError as ProtocolError } from 'countersign/protocol'
import { mfaTestKit, type MfaTestKit } from 'countersign/testing'

interface Customer { customerNumber: number; mobile: string }
const kit: MfaTestKit = mfaTestKit()
const options: MfaOptions<Customer> = {
  service: kit.service,
  userId: (customer) => customer.customerNumber,
  factors: async (customer) => [{ method: 'sms', phone: customer.mobile }],
}
const app = express()
app.use(session({ secret: 's', resave: false, saveUninitialized: false }), passport.session(), mfaSession(options))
app.use('/mfa', mfaRouter(options))
passport.use(new MfaStrategy(options))
app.get('/page', requireMfa({ maxAge: '5m' }), (req: Request, res: Response) => {
  const status: 'none' | 'pending' | 'verified' | undefined = req.mfa?.status
  res.json({ status, kind: parseUser('a@b.example')?.kind })
})
app.post('/orders/:id', requireMfa(), startMfa(options), (req, res) => void res.send(req.params.id.trim()))
const mfa: Mfa<Customer> = createMfa(options)
app.use(mfa.session).use('/mfa', mfa.router, mfa.devicesRouter)
app.post('/items/:id', mfa.requireMfa({ maxAge: 300_000 }), mfa.startMfa, (req, res) => void res.send(req.params.id.trim()))
passport.use(mfa.strategy)
const answers: [ReturnType<MfaService["send"]>, ReturnType<MfaService["verify"]>] | undefined = undefined
// @ts-expect-error req.mfa is absent where the gate did not run
app.get('/status', (req, res) => void res.send(req.mfa.status))
// @ts-expect-error the user has no id, so userId is required
const nameless: MfaOptions<Customer> = { service: kit.service, factors: () => [] }
const sameClass: typeof ServiceError = ProtocolError
// @ts-expect-error the strategy is not a number, so its type was found
const strategy: number = new MfaStrategy(options)
// @ts-expect-error a misspelt option, so the types of the options were found
const misspelt: MfaOptions<Customer> = { ...options, factorz: () => [] }
void [sameClass, strategy, misspelt, nameless, answers]
`

const IMPORTS = `
import express from 'express'
import session from 'express-session'
import passport from 'passport'
`

const REQUIRES = `
import express = require('express')
import session = require('express-session')
import passport = require('passport')
`

/** The settings of an app, by \`moduleResolution\`, with the files that it compiles. */
const RESOLUTIONS = {
  node10: { module: 'commonjs', files: ['app.ts'] },
  node16: { module: 'node16', files: ['app.cts', 'app.mts'] },
  nodenext: { module: 'nodenext', files: ['app.cts', 'app.mts'] },
  bundler: { module: 'esnext', files: ['app.ts'] },
} as const

type Resolution = keyof typeof RESOLUTIONS

// TypeScript 7 has removed node10. For node16 it resolves modules as for nodenext.
const NEWEST: readonly Resolution[] = ['nodenext', 'bundler', ...(isLong ? (['node16'] as const) : [])]

/** Gives a project the app, and a `tsconfig.json` for each resolution. */
async function writeApp(project: Consumer): Promise<void> {
  await project.write('app.ts', IMPORTS + APP)
  await project.write('app.mts', IMPORTS + APP)
  await project.write('app.cts', REQUIRES + APP)
  for (const [moduleResolution, { module, files }] of Object.entries(RESOLUTIONS)) {
    const compilerOptions = {
      target: 'es2022',
      module,
      moduleResolution,
      esModuleInterop: true,
      strict: true,
      noEmit: true,
      skipLibCheck: false,
      types: ['node'],
    }
    await project.write(`${moduleResolution}.json`, JSON.stringify({ compilerOptions, files }))
  }
}

describe('the declarations, in an app with the types of Express 5', () => {
  let project: Consumer

  beforeAll(async () => {
    project = await consumer({ ...EXPRESS_APP, ...EXPRESS_5_TYPES })
    await writeApp(project)
  })

  afterAll(() => project.dispose())

  // TypeScript 5.4 resolves modules for nodenext as for node16.
  it('compile with TypeScript 5.4 and node10, node16 or bundler', async () => {
    expect(await project.tsc54('node10.json', 'node16.json', 'bundler.json')).toBe('')
  })

  it.each(NEWEST)('compile with TypeScript 7 and %s', async (resolution) => {
    expect(await project.tsc(`${resolution}.json`)).toBe('')
  })
})

describe('the declarations, in an app with the types of Express 4', () => {
  let project: Consumer

  beforeAll(async () => {
    project = await consumer({ ...EXPRESS_APP, ...EXPRESS_4_TYPES })
    await writeApp(project)
  })

  afterAll(() => project.dispose())

  // TypeScript 5.4 differs in how it resolves modules, which is shown with Express 5.
  it.runIf(isLong)('compile with TypeScript 5.4 and node10', async () => {
    expect(await project.tsc54('node10.json')).toBe('')
  })

  it('compile with TypeScript 7 and nodenext', async () => {
    expect(await project.tsc('nodenext.json')).toBe('')
  })
})
