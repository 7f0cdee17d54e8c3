import { createClient } from 'redis'
import { OptionsError } from '../../src/errors.js'
import { readOptions, type Settings } from '../../src/options/settings.js'

/** The shortest options that work. */
export const WORKING = {
  service: { baseUrl: 'https://mfa.example.com', apiKey: '0123456789abcdef' },
  factors: () => [],
}

/** A client of the package `redis`, not connected. */
export const redisClient = createClient()

/** As much of a client of redis 3 as matters here. */
export const oldRedisClient = { connected: true, eval: () => true }

/** The faults of the working options with some of them replaced. */
export function faultsOf(replaced: object): readonly string[] {
  return faultsOfAll({ ...WORKING, ...replaced })
}

/** The faults of the working options with parts of the service address replaced. */
export function addressFaults(replaced: object): readonly string[] {
  return faultsOf({ service: { ...WORKING.service, ...replaced } })
}

export function faultsOfAll(options: unknown): readonly string[] {
  try {
    readOptions(options)
    return []
  } catch (error) {
    if (error instanceof OptionsError) return error.faults
    throw error
  }
}

/** The address of the service as the client gets it. */
export function addressIn(settings: Settings) {
  const { service } = settings
  if (!('baseUrl' in service)) throw new Error('expected an address')
  return service
}
