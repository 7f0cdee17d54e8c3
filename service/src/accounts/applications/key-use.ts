import { serverNetwork } from '../../messages/contacts/client-network.js'
import { writeEventsSql } from '../../messages/events/write-events.js'
import { createStatement, type Store } from '../../store/store.js'
import { describeError, type Logger } from '../../telemetry/log/logger.js'
import { HOUR_MS, MINUTE_MS } from '../../time.js'

/** How often a process writes about one key in a minute. By then, the alerts of the first networks were raised. */
const MAX_WRITES_PER_MINUTE = 10

/** The networks that are remembered of a key; the oldest ones are forgotten. */
const MAX_NETWORKS = 100

const MAX_NOTED_KEYS = 10_000

/** The facts known about the use of a key. */
export interface KeyUse {
  readonly application: string
  readonly id: string
  readonly last_used_at: number | null
  readonly networks: readonly string[]
}

// The first network of a key is where it belongs. Of two processes that see a new one at once, the second one finds it in the row.
const RECORD = createStatement<
  Pick<KeyUse, 'application' | 'id'> &
    Record<'hour' | 'now', number> &
    Record<'address' | 'network', string | null>
>(`WITH known AS MATERIALIZED (
    SELECT networks, :network::text IS NOT NULL AND :network::text <> ALL (networks) AS is_unknown FROM api_key
    WHERE application = :application AND id = :id FOR UPDATE
  ), used AS (
    UPDATE api_key SET last_used_at = greatest(last_used_at, :hour::bigint), last_address = coalesce(:address, last_address),
      networks = CASE WHEN is_unknown
        THEN (known.networks || :network::text)[greatest(1, cardinality(known.networks) + 2 - ${MAX_NETWORKS}):]
        ELSE known.networks END,
      new_network = CASE WHEN is_unknown AND known.networks <> '{}' THEN :network ELSE new_network END,
      new_network_at = CASE WHEN is_unknown AND known.networks <> '{}' THEN :now::bigint ELSE new_network_at END
    FROM known WHERE application = :application AND id = :id
    RETURNING mode, label, is_unknown AND known.networks <> '{}' AS is_new
  ), ${writeEventsSql(`(SELECT :application::text AS application, NULL::text AS account, 'key.new_network' AS type,
      jsonb_build_object('key', jsonb_build_object('id', :id::text, 'mode', mode, 'label', label), 'network', :network::text) AS data,
      :now::bigint AS at FROM used WHERE is_new)`)}
  SELECT is_new FROM used`)

/** Notes that a key is used from an address (`undefined` if unknown), at most ten times a minute, and warns when its network is new. */
export type NoteKeyUse = (key: KeyUse, address: string | undefined) => void

/** Notes the use of keys in a store. */
export function keyUses(store: Store, log: Logger): NoteKeyUse {
  const written = new Map<string, { readonly minute: number; readonly writes: number }>()

  function mayWrite(name: string, minute: number): boolean {
    const known = written.get(name)
    const writes = known?.minute === minute ? known.writes + 1 : 1
    if (writes > MAX_WRITES_PER_MINUTE) return false
    if (written.size >= MAX_NOTED_KEYS) written.clear()
    written.set(name, { minute, writes })
    return true
  }

  async function write(
    { application, id }: KeyUse,
    address: string | undefined,
    network: string | undefined,
  ) {
    const now = Date.now()
    const row = await RECORD.first<{ is_new: boolean }>(store, {
      ...{ application, id, now, hour: now - (now % HOUR_MS) },
      ...{ address: address ?? null, network: network ?? null },
    })
    if (!row?.is_new) return
    const detail = `The API key ${id} was used from ${network}, a network that is new for it. If nothing of yours is there, revoke the key.`
    log({ level: 'warn', event: 'key.new_network', application, detail })
  }

  return (key, address) => {
    const network = address === undefined ? undefined : serverNetwork(address)
    const now = Date.now()
    const isNoted = key.last_used_at !== null && key.last_used_at >= now - (now % HOUR_MS)
    if (isNoted && (network === undefined || key.networks.includes(network))) return
    if (!mayWrite(`${key.application} ${key.id}`, Math.floor(now / MINUTE_MS))) return
    write(key, address, network).catch((error: unknown) => {
      const detail = describeError(error)
      log({ level: 'warn', event: 'key.last_used_not_recorded', application: key.application, detail })
    })
  }
}
