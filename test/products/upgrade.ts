import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import type { createMfa } from '../../src/index.js'
import type { jsonAgent, TestUser } from '../kit/host.js'
import type { TwoProducts } from './kit.js'

/** Finds out who opens a connection with the cookies of an agent. */
export function findUpgradeOf({ app, store }: TwoProducts, agent: ReturnType<typeof jsonAgent>) {
  return ({ upgrade }: ReturnType<typeof createMfa<TestUser>>, url: string) => {
    const req = new IncomingMessage(new Socket())
    const cookie = agent.jar.getCookies({ path: '/', domain: '127.0.0.1', secure: false, script: false })
    Object.assign(req, {
      url,
      method: 'GET',
      headers: { host: 'app.example', cookie: cookie.toValueString() },
    })
    if (Object.keys(store.stored).length === 0) throw new Error('no session')
    return upgrade(req, app)
  }
}
