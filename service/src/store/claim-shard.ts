import { wire } from 'countersign/protocol'
import { ConfigurationError } from '../telemetry/configuration-error.js'
import { type Queries, queryOne, type Store } from './store.js'

/** The shard whose accounts a store holds; `undefined` if it holds all accounts. */
export async function recordedShard(store: Queries): Promise<wire.Shard | undefined> {
  return queryOne<{ number: number; count: number }>(store, 'SELECT number, count FROM shard', [])
}

// As `shardOf` of the plugin.
const FOREIGN = `SELECT EXISTS (
  SELECT FROM account
  WHERE ((('x' || encode(substr(sha256(convert_to(account, 'UTF8')), 1, 4), 'hex'))::bit(32)::bigint & 4294967295) * $2::bigint) >> 32
    <> $1::bigint - 1
) AS found`

/**
 * Records at the first start which shard a store is, and refuses any other one from then on: in the database of another shard, every
 * user would seem to have no second factor.
 */
export async function claimShard(store: Store, shard: wire.Shard | undefined): Promise<void> {
  const before = await recordedShard(store)
  if (!before && shard) {
    const { number, count } = shard
    const [accounts] = await store.background.query<{ found: boolean }>(FOREIGN, [number, count])
    if (accounts?.found) {
      throw new ConfigurationError([
        `SERVICE_SHARD (\`shard\`) is ${wire.shardName(shard)}, but the database (DATABASE_URL) has accounts of other shards: give each shard an empty database, or move the accounts as docs/scaling.md says.`,
      ])
    }
    await store.query('INSERT INTO shard (number, count) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
      number,
      count,
    ])
  }
  const recorded = before ?? (shard && (await recordedShard(store)))
  if (recorded?.number === shard?.number && recorded?.count === shard?.count) return
  const [is, given] = [recorded, shard].map((one) => (one ? wire.shardName(one) : 'not set'))
  throw new ConfigurationError([
    `SERVICE_SHARD (\`shard\`) is ${given}, but the database (DATABASE_URL) belongs to shard ${is}: compare both with those of the other shards.`,
  ])
}
