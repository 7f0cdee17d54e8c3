import { createMfa } from 'countersign'
import { expect, it } from 'vitest'
import { readConfig } from '../src/config.js'
import { mfaOptions } from '../src/mfa.js'
import { pgliteDatabase } from '../src/store/database.js'
import { messagesIn } from '../src/store/messages.js'
import { createTables } from '../src/store/tables.js'
import { usersIn } from '../src/store/users.js'
import { quickPasswords } from './kit.js'

it('Vault offers no keys with MFA_DIALECT=published, since such a service cannot tell who has one (R131)', async () => {
  const db = await pgliteDatabase('memory://')
  await createTables(db)
  const address = { baseUrl: 'https://mfa.example.com', apiKey: '0123456789abcdef' }
  const config = readConfig({ MFA_BASE_URL: address.baseUrl, MFA_API_KEY: address.apiKey })
  const optionsFor = (dialect: 'published' | 'detect') =>
    mfaOptions(config, { ...address, dialect }, usersIn(db, quickPasswords), { db, messages: messagesIn(db) })
  expect(optionsFor('published').keys).toBe(false)
  expect(() => createMfa(optionsFor('published'))).not.toThrow()
  expect(optionsFor('detect').keys).toBe(true)
  await db.close()
})
