import { readFileSync } from 'node:fs'
import type { ServiceOptions } from './options.js'

/** The variable of each member of `relyingParty` and `keyPolicy`. */
export const KEY_VARIABLES: Readonly<Record<string, string>> = {
  'relyingParty.id': 'SERVICE_RELYING_PARTY_ID',
  'relyingParty.name': 'SERVICE_RELYING_PARTY_NAME',
  'relyingParty.origins': 'SERVICE_RELYING_PARTY_ORIGINS',
  'relyingParty.relatedOrigins': 'SERVICE_RELATED_ORIGINS',
  'relyingParty.topOrigins': 'SERVICE_TOP_ORIGINS',
  'keyPolicy.userVerification': 'SERVICE_KEY_USER_VERIFICATION',
  'keyPolicy.deviceBoundOnly': 'SERVICE_KEY_DEVICE_BOUND_ONLY',
  'keyPolicy.attestation': 'SERVICE_KEY_ATTESTATION',
  'keyPolicy.authenticators': 'SERVICE_KEY_AUTHENTICATORS',
  'keyPolicy.metadata': 'SERVICE_KEY_METADATA',
  'keyPolicy.algorithms': 'SERVICE_KEY_ALGORITHMS',
  'keyPolicy.counter': 'SERVICE_KEY_COUNTER',
}

type Environment = Readonly<Record<string, string | undefined>>

const LISTS = ['origins', 'relatedOrigins', 'topOrigins', 'algorithms', 'authenticators']

/** The options `relyingParty` and `keyPolicy`, as far as variables set them. Their values are checked with all other options. */
export function readKeyVariables(
  env: Environment,
  faults: string[],
): Pick<ServiceOptions, 'relyingParty' | 'keyPolicy'> {
  const relyingParty = membersOf('relyingParty', env)
  const keyPolicy = membersOf('keyPolicy', env)
  const isNamed = Object.keys(relyingParty).length > 0
  if (isNamed && relyingParty.id === undefined) {
    faults.push(
      'SERVICE_RELYING_PARTY_ID is missing: set it to the domain that keys belong to, such as example.com.',
    )
    return {}
  }
  return {
    ...(isNamed && { relyingParty }),
    ...(Object.keys(keyPolicy).length > 0 && { keyPolicy }),
  } as Pick<ServiceOptions, 'relyingParty' | 'keyPolicy'>
}

function membersOf(option: string, env: Environment): Record<string, unknown> {
  const members = Object.entries(KEY_VARIABLES).flatMap(([path, variable]) => {
    const [owner, name = ''] = path.split('.')
    const text = env[variable]
    return owner === option && text ? [[name, parsed(name, text)]] : []
  })
  return Object.fromEntries(members)
}

function parsed(name: string, text: string): unknown {
  if (LISTS.includes(name)) return text.split(',').map((part) => part.trim())
  if (name === 'metadata') return contentOf(text)
  if (name !== 'deviceBoundOnly') return text
  return text === 'true' || (text === 'false' ? false : text)
}

/** Anything but JSON is refused like every other wrong value. */
function contentOf(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return null
  }
}
