import { describe, expect, test } from 'vitest'
import { createStatement } from '../src/store/store.js'

describe('a statement with named parameters', () => {
  test('numbers each name once, in the order of appearance, and leaves casts and texts alone', () => {
    const { text, values } = createStatement<{ b: number; a: string; since: number }>(
      "SELECT 'challenge:' || :a FROM t WHERE b = :b::bigint AND at > :since::bigint AND a <> :a",
    )
    expect(text).toBe("SELECT 'challenge:' || $1 FROM t WHERE b = $2::bigint AND at > $3::bigint AND a <> $1")
    expect(values({ since: 3, a: 'x', b: 2 })).toEqual(['x', 2, 3])
  })

  test('passes null on, ignores other values, and refuses a missing one', () => {
    const { values } = createStatement<{ a: string | null }>('SELECT :a::text')
    const more = { a: null, other: 1 }
    expect(values(more)).toEqual([null])
    expect(() => values({} as { a: null })).toThrow('The statement has no value for :a.')
  })
})
