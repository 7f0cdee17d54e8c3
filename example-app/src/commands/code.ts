import { readConfig } from '../config.js'
import { reportFault } from '../fault.js'
import { SEED_APP_SECRETS, seedAppCodes } from '../seed-apps.js'
import { appSecretsIn } from '../store/app-secrets.js'

/** `npm run code -w example-app -- alice`: the code that the authenticator app of a seed user shows now. */
async function main(username: string | undefined): Promise<void> {
  const kept = await appSecretsIn(readConfig(process.env).dataDir).read()
  const secrets = { ...SEED_APP_SECRETS, ...kept }
  const apps = seedAppCodes(secrets)
  const shown = apps.find((app) => app.username === username)
  if (!shown) {
    console.error(`Name a user with an authenticator app: ${apps.map((app) => app.username).join(', ')}`)
    process.exitCode = 1
    return
  }
  console.log(`${shown.code}   valid for ${shown.secondsLeft} s   (secret ${secrets[shown.username]})`)
}

main(process.argv[2]).catch((error: unknown) => {
  reportFault(error)
  process.exitCode = 1
})
