import { onTestFinished } from 'vitest'
import { type HttpService, httpService } from '../../src/client/service.js'
import { MfaError } from '../../src/errors.js'
import type { ServiceAddress } from '../../src/options/service.js'
import { readServiceAddress } from '../../src/options/settings.js'
import type { RequestOf } from '../../src/protocol/service.js'
import { type Behaviour, type HostileService, hostileService } from './hostile-service.js'

/** The API key of these tests. It must turn up nowhere but in the header. */
export const API_KEY = 'key-of-the-tests-0123456789'

/** The client as the options build it, for the published API unless the address names another. */
export function clientFor(address: ServiceAddress): HttpService {
  const client = httpService(readServiceAddress({ dialect: 'published', ...address }))
  onTestFinished(() => client.close())
  return client
}

/** A hostile service and the client that talks to it. */
export async function pair(
  behave: Behaviour,
  more: Partial<ServiceAddress> = {},
): Promise<{ client: HttpService; service: HostileService }> {
  const service = await hostileService(behave)
  const client = clientFor({ baseUrl: service.url, apiKey: API_KEY, timeout: 2_000, ...more })
  return { client, service }
}

/** A code to be verified, as the flows ask for it. */
export const BOBS_CODE: RequestOf<'verify'> = {
  method: 'sms',
  contact: { kind: 'phone', phone: '+447700900102' },
  code: '123456',
  kind: 'code',
}

/** Verifies once and tells what came of it: an outcome, or the code of the error. */
export async function verdict(
  client: HttpService,
  request: RequestOf<'verify'> = BOBS_CODE,
): Promise<string> {
  return client.verify(request).then((answer) => answer.outcome, errorCode)
}

/** The code of an error of this package; anything else is a bug and is thrown on. */
export function errorCode(error: unknown): string {
  if (error instanceof MfaError) return error.code
  throw error
}

/** The error that a promise fails with. */
export async function failure(promise: Promise<unknown>): Promise<MfaError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (error instanceof MfaError) return error
  throw new Error('expected an MfaError', { cause: error })
}
