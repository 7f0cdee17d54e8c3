import { afterEach, beforeEach, vi } from 'vitest'
import { isLong } from '../../test/kit/long.js'
import { describeOnOtherDatabases } from './both-databases.js'
import { stopClock } from './kit.js'
import { verbsSuite } from './suites/verbs.js'

beforeEach(() => stopClock())
afterEach(() => vi.useRealTimers())

// Only what happens at once can differ between the isolation levels.
describeOnOtherDatabases((bench) => verbsSuite(bench, !isLong))
