import { io, type ManagerOptions, type SocketOptions } from 'socket.io-client'
import request from 'supertest'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { sessionCookie } from '../kit/cookies.js'
import { codeIn } from '../kit/message-code.js'
import type { RunningProcess } from '../kit/process.js'
import { challenge, verify } from '../kit/sign-in.js'
import { expectHeld } from './attack.js'
import { inboxAddress, messagesIn, openRecipe, type Recipe } from './kit.js'

/** The answer of a server to a connection: its first words, or the status of its refusal. */
interface Heard {
  readonly said: string
  /** Resolves when the server ends the connection. */
  readonly ended: Promise<unknown>
}

const refused = (said: string): Heard => ({ said, ended: Promise.resolve() })

function viaWs({ url }: RunningProcess, cookie: string): Promise<Heard> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, { headers: { Cookie: cookie } })
  const ended = new Promise((resolve) => socket.once('close', resolve))
  return new Promise((resolve, reject) => {
    socket.once('message', (data) => resolve({ said: String(data), ended }))
    socket.once('error', reject)
    socket.once('unexpected-response', (_req, res) => {
      res.resume()
      resolve(refused(String(res.statusCode)))
    })
  })
}

const viaSocketIo =
  (options: Partial<ManagerOptions & SocketOptions>) =>
  ({ url }: RunningProcess, cookie: string): Promise<Heard> => {
    const extraHeaders = { Cookie: cookie }
    const socket = io(url, { ...options, extraHeaders, forceNew: true, reconnection: false })
    const ended = new Promise((resolve) => socket.once('disconnect', resolve))
    return new Promise((resolve) => {
      socket.once('hello', (name: string) => resolve({ said: `hello ${name}`, ended }))
      socket.once('connect_error', () => {
        socket.disconnect()
        resolve(refused('refused'))
      })
    })
  }

async function viaEvents({ url }: RunningProcess, cookie: string): Promise<Heard> {
  const headers = { Cookie: cookie, Accept: 'text/event-stream' }
  const answer = await fetch(`${url}/events`, { headers })
  const reader = answer.body?.getReader()
  if (answer.status !== 200 || !reader) return refused(String(answer.status))
  const first = await reader.read()
  const text = new TextDecoder().decode(first.value)
  const rest = async () => {
    while (!(await reader.read()).done);
  }
  return { said: text.replace('data: ', '').trim(), ended: rest() }
}

describe('the recipe "WebSockets"', () => {
  let recipe: Recipe
  let app: RunningProcess

  beforeAll(async () => {
    recipe = await openRecipe('websockets')
    app = await recipe.start('server.js', { RECHECK_MS: '50' })
  })

  afterAll(() => recipe?.dispose())

  /** Signs in with the password, in a browser of its own. */
  async function passwordOnly() {
    const browser = request.agent(app.url).set('Accept', 'text/html')
    const form = { username: 'bob', password: 'a good password' }
    const answer = await browser.post('/login').type('form').send(form).expect(302)
    return { browser, cookie: sessionCookie(answer) }
  }

  /** Signs in with both factors. */
  async function bothFactors() {
    const { browser } = await passwordOnly()
    await challenge(browser, 'email').type('form').expect(303)
    for (const message of await messagesIn(browser, recipe)) {
      const answer = await verify(browser, codeIn(message.text)).set('Accept', 'application/json')
      if (answer.status === 200) return { browser, cookie: sessionCookie(answer) }
    }
    throw new Error('no message held the code')
  }

  it.each([
    ['ws', viaWs, '401'],
    ['socket.io over a WebSocket', viaSocketIo({ transports: ['websocket'] }), 'refused'],
    ['socket.io over long polling', viaSocketIo({ transports: ['polling'] }), 'refused'],
    ['server-sent events', viaEvents, '401'],
  ])(
    'lets %s connect after the second factor only, and until the sign-out (R134)',
    async (_what, connect, refusal) => {
      expect((await connect(app, '')).said).toBe(refusal)
      expect((await connect(app, (await passwordOnly()).cookie)).said).toBe(refusal)

      const { browser, cookie } = await bothFactors()
      const connection = await connect(app, cookie)
      expect(connection.said).toBe('hello bob')
      await browser.post('/logout').expect(302)
      await connection.ended
      expect((await connect(app, cookie)).said).toBe(refusal)
    },
  )

  it('holds when it is attacked', async () => {
    const { url } = await recipe.start('server.js', { DATA_DIR: '.data-attack' })
    await expectHeld(url, [
      '--protected',
      '/',
      '--inbox',
      await inboxAddress(recipe.folder, '.data-attack'),
      '--upgrade',
      '/ws',
      '--route',
      '/events',
    ])
  })
})
