import { randomUUID } from 'node:crypto'
import type { Settings } from '../../options/settings.js'
import type { WarningCode } from '../../options/warnings.js'
import type { MfaService, RequestOf } from '../../protocol/service.js'
import type { StoreConfig } from '../../stores/config.js'
import { isConnected, keepsKeys } from '../../stores/redis.js'

type Environment = Readonly<Record<string, string | undefined>>

/** The warnings that follow from the options and the environment. */
export function findStartWarnings(settings: Settings, env: Environment = process.env): WarningCode[] {
  const { limits, service, trustedDevices, notices, recovery } = settings
  const isSeveral = isOneOfSeveral(env)
  const isProduction = env.NODE_ENV === 'production'
  const isLost = (store: StoreConfig | undefined) => store === 'memory' && (isProduction || isSeveral)
  // The options allow plain http only to this machine, or with allowInsecureServiceUrl.
  const isPlain =
    'baseUrl' in service && service.allowInsecureServiceUrl && service.baseUrl.startsWith('http:')
  return listApplying({
    MFA_WARN_SEPARATE_COUNTERS: limits.store === 'memory' && isSeveral,
    MFA_WARN_MEMORY_COUNTERS: limits.store === 'memory' && !isSeveral && isProduction,
    MFA_WARN_MEMORY_DEVICES: isLost(trustedDevices?.store),
    MFA_WARN_MEMORY_LINKS: isLost(notices.store),
    MFA_WARN_MEMORY_RECOVERIES: isLost(
      recovery && (recovery.store ?? notices.store ?? trustedDevices?.store),
    ),
    MFA_WARN_TRUST_OUTLIVES_PASSWORD: trustedDevices && !trustedDevices.fingerprint && isProduction,
    MFA_WARN_PLAIN_HTTP: isPlain,
  })
}

/** The warnings that apply. */
export function listApplying(
  warnings: Readonly<Partial<Record<WarningCode, boolean | undefined>>>,
): WarningCode[] {
  const codes = Object.keys(warnings) as WarningCode[]
  return codes.filter((code) => warnings[code])
}

/** Returns a function that asks each Redis server that the options name whether it keeps all keys, once, when it is connected. */
export function askRedis(settings: Settings, warn: (code: WarningCode) => void): () => void {
  const { limits, trustedDevices, notices, recovery } = settings
  const stores = [limits.store, trustedDevices?.store, notices.store, recovery?.store]
  const clients = new Set(
    stores.flatMap((store) => (typeof store === 'object' && 'redis' in store ? store.redis : [])),
  )
  return () => {
    for (const client of clients) {
      if (!isConnected(client)) continue
      clients.delete(client)
      void keepsKeys(client).then((keeps) => {
        if (!keeps) warn(keeps === false ? 'MFA_WARN_REDIS_EVICTS' : 'MFA_WARN_REDIS_POLICY_UNKNOWN')
      })
    }
  }
}

/** The options whose store, of the host's own, loses what it was given. @throws what such a store throws. */
export async function findLosingStores(settings: Settings): Promise<string[]> {
  const { limits, trustedDevices, notices, recovery } = settings
  const owner = `check:${randomUUID()}`
  const item = { id: 'check', value: 'kept', expiresAt: Date.now() + CHECK_MS }
  const keepsItems = async (store: StoreConfig | undefined) => {
    if (store === undefined || store === 'memory' || 'redis' in store || 'postgres' in store) return true
    await store.put(owner, item)
    const found = await store.read(owner)
    await store.remove(owner, item.id)
    return found.some(({ value }) => value === item.value)
  }
  const keepsCounters = async ({ store }: Settings['limits']) => {
    if (store === 'memory' || 'redis' in store || 'postgres' in store) return true
    await store.replace(owner, undefined, item.value, CHECK_MS)
    return (await store.read(owner)) === item.value
  }
  const kept = {
    'limits.store': await keepsCounters(limits),
    'trustedDevices.store': await keepsItems(trustedDevices?.store),
    'notices.store': await keepsItems(notices.store),
    'recovery.store': await keepsItems(recovery?.store),
  }
  return Object.entries(kept).flatMap(([option, keeps]) => (keeps ? [] : [option]))
}

/** How long the entry lives with which a store is checked. */
const CHECK_MS = 60_000

/** Whether the environment shows several processes: node:cluster, pm2 in cluster mode, or variables of Heroku and others. */
function isOneOfSeveral({
  NODE_UNIQUE_ID,
  NODE_APP_INSTANCE,
  WEB_CONCURRENCY,
  instances,
}: Environment): boolean {
  return (
    NODE_UNIQUE_ID !== undefined ||
    Number(NODE_APP_INSTANCE ?? 0) > 0 ||
    Number(WEB_CONCURRENCY ?? 1) > 1 ||
    Number(instances ?? 1) > 1
  )
}

/** The service, watched for the name that it gives the app; `onOtherName` is called with another one. */
export function observeName<Service extends MfaService>(
  service: Service,
  appName: string,
  onOtherName: () => void,
): Service {
  const { enrollApp } = service
  if (!enrollApp) return service
  return {
    ...service,
    async enrollApp(request: RequestOf<'enrollApp'>) {
      const answer = await enrollApp(request)
      const issuer = answer.outcome === 'prepared' ? readIssuer(answer.uri) : undefined
      if (issuer && issuer !== appName) onOtherName()
      return answer
    },
  }
}

function readIssuer(uri: string | undefined): string | undefined {
  if (uri === undefined || !URL.canParse(uri)) return undefined
  return new URL(uri).searchParams.get('issuer') ?? undefined
}
