import { makeEmptyDatabase } from './empty-database.js'

// The build runs this.
await makeEmptyDatabase()
