import { runWithTokens } from './suites.js'

await runWithTokens('attacks')
