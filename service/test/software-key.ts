import type { CompleteMfaService, Contact, KeyMethod } from 'countersign/protocol'
import { softwareAuthenticator } from '../../src/testing/software-authenticator.js'

/** The page on which the keys of tests are used. */
export const KEY_PAGE = { origin: 'https://app.example.com' }

/** The relying party of the keys of tests. */
export const RELYING_PARTY = {
  id: 'example.com',
  name: 'Vault',
  origins: [KEY_PAGE.origin],
  relatedOrigins: ['https://vault.example'],
  topOrigins: ['https://portal.example'],
}

/** The verbs for keys of a service that has them. */
export function keysOf({ keys }: CompleteMfaService) {
  if (!keys) throw new Error('This service has no verbs for keys.')
  return keys
}

/** The options in an answer. */
export async function optionsIn(answer: Promise<{ readonly outcome: string }>): Promise<object> {
  const prepared = await answer
  if ('options' in prepared) return Object(prepared.options)
  throw new Error(JSON.stringify(prepared))
}

/** Registers a key of a software authenticator. */
export async function registerSoftwareKey(
  mfa: CompleteMfaService,
  user: { readonly account?: string; readonly contact: Contact },
  method: KeyMethod,
  { device = softwareAuthenticator(), name }: { device?: SoftwareAuthenticator; name?: string } = {},
) {
  const keys = keysOf(mfa)
  const ceremony = { ...user, method, transaction: 'enroll' }
  const options = await optionsIn(keys.registrationOptions(ceremony))
  const response = device.create(options, KEY_PAGE)
  const answer = await keys.register({ ...ceremony, response, ...(name !== undefined && { name }) })
  return { device, response, answer }
}

type SoftwareAuthenticator = ReturnType<typeof softwareAuthenticator>
