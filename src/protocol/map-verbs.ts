import { KEY_VERBS } from './key-verbs.js'
import type { Verb } from './verb.js'
import { VERBS } from './verbs.js'

/** Wraps one verb. `name` is what a message calls it. */
export type WrapVerb = (
  name: string,
  verb: Verb,
  call: (request: unknown) => Promise<unknown>,
) => (request: never) => Promise<unknown>

/** The verbs that a service has, each of them wrapped. Its other members are left out. */
export function mapVerbs<Service extends { readonly keys?: object }>(
  service: Service,
  wrap: WrapVerb,
): Omit<Service, 'approvals' | 'codes' | 'close' | 'started'> {
  const { keys } = service
  return {
    ...mapObject(VERBS, service, '', wrap),
    ...(keys && { keys: mapObject(KEY_VERBS, keys, 'keys.', wrap) }),
  }
}

function mapObject<Service extends object>(
  verbs: object,
  service: Service,
  prefix: string,
  wrap: WrapVerb,
): Service {
  const host: object = service
  const calls = Object.entries<Verb>({ ...verbs }).flatMap(([name, verb]) => {
    if (typeof Reflect.get(host, name) !== 'function') return []
    const call = async (request: unknown): Promise<unknown> =>
      Reflect.apply(Reflect.get(host, name), host, [request])
    return [[name, wrap(`${prefix}${name}`, verb, call)] as const]
  })
  return Object.fromEntries(calls) as unknown as Service
}
