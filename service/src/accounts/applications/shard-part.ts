import type { wire } from 'countersign/protocol'
import type { Application } from '../application.js'

/** The budgets of which each shard has an equal part, so that all together never allow more than the whole. */
const DIVIDED = ['sendsPerApplicationDay', 'sendsPerCountryHour', 'sendsPerPrefixHour'] as const

/** What is wrong with limits of which the shards would have no part, so that all messages would be refused. */
export function undividedLimits(
  limits: { readonly [Name in (typeof DIVIDED)[number]]?: number | undefined },
  { count }: Pick<wire.Shard, 'count'>,
): string[] {
  return DIVIDED.flatMap((name) => {
    const limit = limits[name] ?? count
    if (limit >= count) return []
    return `${name} must be at least the number of shards, which have an equal part of it (got ${limit} and ${count}).`
  })
}

/** The application with this shard's part of all budgets that its accounts share, apart from those of a mailbox, phone or client. */
export function partOf({ count }: wire.Shard, application: Application): Application {
  const { limits, spending } = application
  const part = (ceiling: number | undefined) => (ceiling === undefined ? undefined : ceiling / count)
  return {
    ...application,
    limits: {
      ...limits,
      ...Object.fromEntries(DIVIDED.map((name) => [name, Math.floor(limits[name] / count)])),
      // From so many codes on, the share of typed ones counts: with none, no code could ever be sent.
      untypedPerCountry: Math.ceil(limits.untypedPerCountry / count),
      untypedPerPrefix: Math.ceil(limits.untypedPerPrefix / count),
    },
    spending: { ...spending, perDay: part(spending.perDay), perMonth: part(spending.perMonth) },
  }
}
