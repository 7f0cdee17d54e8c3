import { makeEmptyDatabase } from './empty-database.js'

// Run by the build.
await makeEmptyDatabase()
