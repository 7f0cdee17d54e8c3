import { seedAppCodes } from '../seed-apps.js'
import { SEED_USERS } from '../seed-users.js'

/** `npm run code -w example-app -- alice`: what the authenticator app of a seeded customer shows now. */
function main(username: string | undefined): void {
  const apps = seedAppCodes()
  const shown = apps.find((app) => app.username === username)
  if (!shown) {
    console.error(`Whose code? One of: ${apps.map((app) => app.username).join(', ')}`)
    process.exitCode = 1
    return
  }
  const secret = SEED_USERS.find((person) => person.username === username)?.appSecret
  console.log(`${shown.code}   for ${shown.secondsLeft} s more   (secret ${secret})`)
}

main(process.argv[2])
