import { readConfig } from '../config.js'
import { tellFault } from '../fault.js'
import { openVault } from '../open-vault.js'
import { seed } from '../seed.js'

/** `npm run seed`: adds the customers and authenticator apps that are missing. */
async function main(): Promise<void> {
  const vault = await openVault(readConfig(process.env))
  try {
    const done = await seed(vault.seeding)
    for (const line of done) console.log(line)
    if (done.length === 0) console.log('Everybody is there already.')
  } finally {
    await vault.close()
  }
}

main().catch((error: unknown) => {
  tellFault(error)
  process.exitCode = 1
})
