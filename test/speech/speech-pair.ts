import { createSpeechClient, type SpeechClient } from 'countersign/speech'
import { onTestFinished } from 'vitest'
import type { ServiceAddress } from '../../src/options/service.js'
import { API_KEY } from '../client/ask.js'
import { type Behaviour, type HostileService, hostileService } from '../client/hostile-service.js'

/** A hostile service and the speech client that talks to it, for the published API unless the address names another. */
export async function speechPair(
  behave: Behaviour,
  more: Partial<ServiceAddress> = {},
): Promise<{ client: SpeechClient; service: HostileService }> {
  const service = await hostileService(behave)
  const address = { baseUrl: service.url, apiKey: API_KEY, timeout: 2_000, dialect: 'published' } as const
  const client = createSpeechClient({ ...address, ...more })
  onTestFinished(() => client.close())
  return { client, service }
}
