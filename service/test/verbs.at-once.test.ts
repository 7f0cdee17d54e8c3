import { afterEach, beforeEach, vi } from 'vitest'
import { describeOnOtherDatabases } from './both-databases.js'
import { stopClock } from './kit.js'
import { verbsSuite } from './suites/verbs.js'

// Only what happens at once can differ between the isolation levels. `npm run test:long` also runs what comes one after the other.
const isAtOnceOnly = process.env.EVERY_DATABASE !== 'true'

beforeEach(() => stopClock())
afterEach(() => vi.useRealTimers())

describeOnOtherDatabases((bench) => verbsSuite(bench, isAtOnceOnly))
