import express, { type Request, type Response } from 'express'
import { describe, expect, it } from 'vitest'
import type { MfaState } from '../../src/index.js'
import { host, jsonAgent } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'
import { listen } from '../kit/sockets.js'

const FORWARDED = ['accept-language', 'cookie', 'origin', 'sec-fetch-site', 'user-agent']

/** Calls a route for a browser, as docs/sessions.md describes it for a server that renders pages. */
async function forward(api: string, req: Request, res: Response, path: string, body?: object) {
  const headers = new Headers({ accept: 'application/json', 'content-type': 'application/json' })
  for (const name of FORWARDED) {
    const value = req.get(name)
    if (value) headers.set(name, value)
  }
  headers.set('x-forwarded-for', req.ip ?? '')
  headers.set('x-forwarded-host', req.get('host') ?? '')
  const answer = await fetch(
    api + path,
    body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers },
  )
  for (const cookie of answer.headers.getSetCookie()) res.append('Set-Cookie', cookie)
  return answer
}

/** A server that renders pages and has no sessions, in front of one that has the sessions and the routes. */
async function rendered() {
  const made = host({ first: (app) => void app.set('trust proxy', 'loopback') })
  const api = `http://127.0.0.1:${await listen(made.app)}`
  const front = express()
  front.use(express.json())
  front.get('/', async (req, res) => {
    const state = (await (await forward(api, req, res, '/mfa')).json()) as MfaState
    res.json({ page: state.status === 'pending' ? `code for ${state.factors[0]?.to}` : state.status })
  })
  front.get('/secret', async (req, res) => {
    res.status((await forward(api, req, res, '/secret')).status).end()
  })
  front.post(['/login', '/mfa/challenge', '/mfa/verify'], async (req, res) => {
    const answer = await forward(api, req, res, req.path, req.body)
    res.status(answer.status).json(await answer.json())
  })
  return { front, standIn: made.standIn }
}

describe('a server that renders pages and forwards cookies', () => {
  it('signs users in with both factors, in the session of the browser', async () => {
    const { front, standIn } = await rendered()
    const browser = jsonAgent(front)
    expect((await browser.get('/')).body.page).toBe('none')
    await login(browser, 'bob').expect(200)
    expect((await browser.get('/')).body.page).toBe('code for ••• 02')
    await browser.get('/secret').expect(401)
    await challenge(browser, 'sms').expect(200)
    await verify(browser, standIn.newestCode()).expect(200)
    expect((await browser.get('/')).body.page).toBe('verified')
    await browser.get('/secret').expect(200)
    expect((await jsonAgent(front).get('/')).body.page).toBe('none')
  })

  it('cannot be used by another site (R13)', async () => {
    const { front, standIn } = await rendered()
    const browser = jsonAgent(front)
    await login(browser, 'bob').expect(200)
    const ask = () => challenge(browser, 'sms')
    await ask().set('Sec-Fetch-Site', 'cross-site').expect(403)
    await ask().set('Origin', 'https://evil.example').expect(403)
    expect(standIn.calls).toEqual([])
    await ask().set('Host', 'app.example').set('Origin', 'https://app.example').expect(200)
  })
})
