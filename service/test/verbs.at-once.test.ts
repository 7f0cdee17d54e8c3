import { afterEach, beforeEach, vi } from 'vitest'
import { describeOnOtherDatabases } from './both-databases.js'
import { stopClock } from './kit.js'
import { verbsSuite } from './suites/verbs.js'

// Only what happens at once can differ between the isolation levels. What comes one after the other runs in one of them.
const FOR_ALL = 'PostgreSQL, serializable by default'

beforeEach(() => stopClock())
afterEach(() => vi.useRealTimers())

describeOnOtherDatabases((bench, _kind, name) => verbsSuite(bench, name !== FOR_ALL))
