import { afterEach, beforeEach, describe, vi } from 'vitest'
import { describeOnBothDatabases } from './both-databases.js'
import { stopClock } from './kit.js'
import { keysSuite } from './suites/keys.js'
import { verbsSuite } from './suites/verbs.js'

beforeEach(() => stopClock())
afterEach(() => vi.useRealTimers())

// The statements of the verbs are the same on both. On PostgreSQL, whose connections are many, requests race; `verbs.at-once.test.ts`
// runs there what comes one after the other.
describeOnBothDatabases((bench, database) => {
  verbsSuite(bench, database === 'PostgreSQL')
  describe('security keys and passkeys', () => keysSuite(bench))
})
