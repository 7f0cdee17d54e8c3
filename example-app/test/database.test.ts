import { inspect } from 'node:util'
import { expect, it } from 'vitest'
import { pgliteDatabase } from '../src/store/database.js'

it('the error of a failed statement does not contain its values (R89)', async () => {
  const db = await pgliteDatabase('memory://')
  const failure = await db
    .query('INSERT INTO nowhere (password) VALUES ($1)', ['scrypt$a$b'])
    .catch((error: unknown) => error)
  await db.close()
  expect(inspect(failure, { depth: null })).toContain('relation "nowhere" does not exist')
  expect(inspect(failure, { depth: null })).not.toContain('scrypt')
})
