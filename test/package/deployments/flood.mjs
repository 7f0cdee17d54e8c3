import { setTimeout } from 'node:timers/promises'

/*
 * Sends 1,000 requests for one account to the service at once, by turns to its processes, and prints how often each status came.
 *
 * usage: node flood.mjs <account> <service> [<service>]
 */
const [account, ...services] = process.argv.slice(2)
const [REQUESTS, BATCH] = [1_000, 100]

async function guess(nr) {
  const answer = await fetch(`${services[nr % services.length]}/v1/mfa/verify`, {
    method: 'POST',
    headers: { authorization: `Bearer ${process.env.MFA_API_KEY}` },
    body: new URLSearchParams({ User: account, Type: 'APP', Code: '000000' }),
  })
  await answer.arrayBuffer()
  return answer.status
}

const guesses = []
while (guesses.length < REQUESTS) {
  for (let count = 0; count < BATCH; count++) guesses.push(guess(guesses.length))
  // More new connections would not fit into the queue of the server.
  await setTimeout(5)
}
const counts = {}
for (const status of await Promise.all(guesses)) counts[status] = (counts[status] ?? 0) + 1
console.log(JSON.stringify(counts))
