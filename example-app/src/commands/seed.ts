import { readConfig } from '../config.js'
import { reportFault } from '../fault.js'
import { openVault } from '../open-vault.js'
import { seed } from '../seed.js'

/** `npm run seed`: adds missing seed users and authenticator apps. */
async function main(): Promise<void> {
  const vault = await openVault(readConfig(process.env))
  try {
    const done = await seed(vault.seeding)
    for (const line of done) console.log(line)
    if (done.length === 0) console.log('Nothing to add: all seed users exist.')
  } finally {
    await vault.close()
  }
}

main().catch((error: unknown) => {
  reportFault(error)
  process.exitCode = 1
})
