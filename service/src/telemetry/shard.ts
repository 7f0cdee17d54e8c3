import { wire } from 'countersign/protocol'

/** Reads a shard such as `1/2`; `undefined` if the text is none. */
export function parseShard(text: string): wire.Shard | undefined {
  const [, number, count] = /^([1-9]\d?)\/([1-9]\d?)$/.exec(text)?.map(Number) ?? []
  if (number === undefined || count === undefined) return undefined
  return number <= count && count >= 2 && count <= wire.MAX_SHARDS ? { number, count } : undefined
}

/** Why a service that is this shard does not serve an account; `undefined` if it does. */
export function foreignTo(shard: wire.Shard, account: string): string | undefined {
  const { count } = shard
  const number = wire.shardOf(account, count)
  if (number === shard.number) return undefined
  return `The account belongs to shard ${wire.shardName({ number, count })}, and this is shard ${wire.shardName(shard)}.`
}
