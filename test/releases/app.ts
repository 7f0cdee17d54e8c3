import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { type CountersignService, createService } from '@countersign/service'
import { MemoryStore } from 'express-session'
import { vi } from 'vitest'
import { API_KEY, listen, SECRET } from '../../service/test/kit.js'
import { RELYING_PARTY } from '../../service/test/software-key.js'
import { type AccountNotice, createMfa } from '../../src/index.js'
import { host, type TestUser } from '../kit/host.js'
import { codeIn } from '../kit/message-code.js'
import { PATIENCE_MS } from '../kit/patience.js'
import type { Place } from './places.js'

export const PUBLIC_URL = 'https://shop.example'

/** A response of the service. */
export interface Exchange {
  readonly path: string
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** The headers that the plugin reads. */
const READ_HEADERS = ['content-type', 'retry-after', 'www-authenticate', 'countersign-api']

/** The ways in which another release differs. */
export interface Differences {
  /** Begins to listen for the plugin, and passes its requests on to the service at this address. */
  readonly reach?: (url: string) => Promise<{ readonly url: string; close(): Promise<void> }>
  readonly place?: (place: Place) => Place
  readonly sessions?: MemoryStore
}

/** Starts a service with this source on the database of a place. */
export function startService({ database }: Pick<Place, 'database'>): Promise<CountersignService> {
  return createService({
    ...database,
    secret: SECRET,
    apiKey: API_KEY,
    applicationName: 'Vault',
    transcriber: 'off',
    liveTranscriber: 'off',
    delivery: 'inbox',
    relyingParty: RELYING_PARTY,
    logger: () => {},
  })
}

/** Starts an app with this source whose data is in a place, on a running service. */
export async function startApp(
  place: Place,
  service: CountersignService,
  users: Record<string, TestUser>,
  { reach, place: changed, sessions = new MemoryStore() }: Differences = {},
) {
  const exchanges: Exchange[] = []
  const server = await listen(recorded(service.api, exchanges))
  const { url: baseUrl, close } = reach ? await reach(server.url) : server
  const notices: AccountNotice[] = []
  const { counters, items } = changed?.(place) ?? place
  const made = host({
    store: sessions,
    users,
    options: {
      service: { baseUrl, apiKey: API_KEY },
      urls: { publicUrl: PUBLIC_URL },
      limits: { store: counters },
      trustedDevices: { store: items },
      notices: { onNotice: (_user, notice) => void notices.push(notice) },
      recovery: { onNotice: (_contact, notice) => void notices.push(notice), onFactorsEnded: () => {} },
    },
  })
  /** The texts that were delivered to a contact, newest first. */
  const messages = async (to: string) =>
    ((await service.inbox?.messages({ to })) ?? []).map(({ text }) => text)
  return {
    ...made,
    sessions,
    notices,
    exchanges,
    address: { baseUrl, apiKey: API_KEY },
    messages,
    account: createMfa(made.mfa).account,
    /** The newest code that was delivered to a contact. */
    codeFor: (to: string) =>
      vi.waitFor(async () => codeIn((await messages(to))[0]), { timeout: PATIENCE_MS, interval: 20 }),
    async close() {
      await close()
      if (reach) await server.close()
    },
  }
}

export type App = Awaited<ReturnType<typeof startApp>>

/** The sessions in a store, as texts by their ids. */
export function sessionsIn(store: MemoryStore): Record<string, string> {
  return Reflect.get(store, 'sessions') as Record<string, string>
}

/** The same API, whose responses are recorded as they are sent. */
function recorded(api: RequestListener, exchanges: Exchange[]): RequestListener {
  return (request: IncomingMessage, response: ServerResponse) => {
    const end = response.end.bind(response)
    const { url: path = '' } = request
    response.end = ((...args: Parameters<typeof end>) => {
      const [body] = args as readonly unknown[]
      const headers = Object.fromEntries(
        READ_HEADERS.flatMap((name) => {
          const value = response.getHeader(name)
          return value === undefined ? [] : [[name, String(value)]]
        }),
      )
      const text = typeof body === 'string' || Buffer.isBuffer(body) ? body.toString() : ''
      exchanges.push({ path, status: response.statusCode, headers, body: text })
      return end(...args)
    }) as typeof response.end
    return api(request, response)
  }
}
