import express, { type RequestHandler } from 'express'
import request from 'supertest'
import { describe, expect, it } from 'vitest'
import { createMfa, type MfaRule, mfaClient, requireMfa } from '../../src/index.js'
import { everyCase } from '../kit/every-case.js'
import { EMPTY_RECORD } from '../kit/host.js'
import { standInService } from '../kit/stand-in-service.js'

const mfaOf = () => createMfa({ service: standInService().service, factors: () => [], ...EMPTY_RECORD })

/** The faults that a call reports. */
function faultsOf(call: () => unknown): readonly string[] {
  try {
    call()
  } catch (error) {
    return Object(error).faults ?? [String(error)]
  }
  return []
}

describe('a part of mfa that is used in the wrong way', () => {
  it('says that requireMfa and requireStrongest must be called, and lets nobody in', () =>
    everyCase(
      [
        ['mfa.requireMfa', mfaOf().requireMfa],
        ['mfa.requireMfa', requireMfa],
        ['mfa.requireStrongest', mfaOf().requireStrongest],
      ] as const,
      async ([name, guard]) => {
        const app = express()
        app.get('/', guard as unknown as RequestHandler, (_req, res) => void res.json({ reached: true }))
        let reported: unknown
        app.use(((error: Error, _req, res, _next) => {
          reported = error
          res.status(500).json({})
        }) satisfies express.ErrorRequestHandler)
        const { body } = await request(app).get('/').expect(500)
        expect(body).not.toHaveProperty('reached')
        expect(reported).toMatchObject({
          code: 'ERR_MFA_OPTIONS',
          faults: [`${name} was mounted without being called: write ${name}()`],
        })
      },
    ))

  it('says that session and startMfa are mounted without being called', () => {
    const { session, startMfa } = mfaOf()
    const [gate, start] = [session, startMfa] as unknown as (() => void)[]
    expect(faultsOf(() => gate?.())).toEqual([
      'mfa.session was called by hand: mount it without calling it, app.use(mfa.session)',
    ])
    expect(faultsOf(() => start?.())).toEqual([
      "mfa.startMfa was called by hand: mount it without calling it, app.post('/login', …, mfa.startMfa)",
    ])
  })

  it('says what was given instead of options', () => {
    const mfa = mfaOf()
    expect(faultsOf(() => requireMfa(mfa as MfaRule))).toEqual([
      'requireMfa was given what createMfa returned, which is no rule: write mfa.requireMfa(), with a rule or nothing',
    ])
    expect(faultsOf(() => mfaClient(mfa as never))).toEqual([
      'The client was given what createMfa returned, which is no address: use mfa.client, or pass { baseUrl, apiKey }',
    ])
    expect(faultsOf(() => createMfa({ ...mfa } as never))).toEqual([
      'createMfa was given a copy of what createMfa returned, which are no options: pass the options, or what it returned itself',
    ])
  })

  it('names the parts as the reader typed them', () => {
    const { send, verify } = standInService().service
    const mfa = createMfa({ service: { send, verify }, factors: () => [], ...EMPTY_RECORD })
    const [fault = ''] = faultsOf(() => mfa.router)
    expect(fault).toContain('instead of mfa.router')
    expect(fault).not.toMatch(/mfaRouter|mfaSession/)
  })
})
