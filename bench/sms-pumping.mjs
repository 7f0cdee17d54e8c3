// What SMS pumping costs and whom the protection disturbs: days of codes in simulated time. The figures are in
// service/docs/sms-pumping.md. Run it with `node bench/sms-pumping.mjs` after `npm run build`; it takes about
// five minutes. With a word, such as `company`, it runs only the days whose name contains it.
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { createService } from '../service/dist/index.js'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const MIDNIGHT = (Math.floor(Date.now() / DAY) + 1) * DAY

let now = MIDNIGHT
Date.now = () => now

/** Numbers from 0 to 1 that are the same in every run (mulberry32). */
function randomNumbers(seed) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
const random = randomNumbers(7)
const between = (low, high) => low + random() * (high - low)
const digits = (count) => String(Math.floor(random() * 10 ** count)).padStart(count, '0')

/** A user requests a code at `at`, and types it after a while unless it never arrives or is forgotten. */
const user = (at, phone, typedShare = 0.85) => ({
  at,
  phone,
  isUser: true,
  typesAfter: random() < typedShare ? 8_000 - Math.log(1 - random()) * 20_000 : undefined,
})
const pumped = (at, phone) => ({ at, phone, isUser: false, typesAfter: undefined })

const mobile = () => `+44740${digits(7)}`
/** Consumers of one country: few at night, most in the evening. */
function consumers(count, typedShare) {
  const requests = []
  while (requests.length < count) {
    const hour = random() * 24
    if (random() < 0.1 + 0.9 * Math.max(0, Math.sin(((hour - 6) / 18) * Math.PI))) {
      requests.push(user(MIDNIGHT + hour * HOUR, mobile(), typedShare))
    }
  }
  return requests
}
/** A company whose phones share a prefix signs in between 9:00 and 9:10. */
const company = (count, day = 0) =>
  Array.from({ length: count }, (_, i) =>
    user(
      MIDNIGHT + day * DAY + 9 * HOUR + between(0, 10 * MINUTE),
      `+44740512${String(i).padStart(4, '0')}`,
      0.9,
    ),
  )
const every = (ms, from, until, phone) =>
  Array.from({ length: Math.floor((until - from) / ms) }, (_, i) =>
    pumped(MIDNIGHT + from + i * ms, phone(i)),
  )

const fromService = createRequire(new URL('../service/package.json', import.meta.url))
const examples = fromService('libphonenumber-js/examples.mobile.json')
const { getCountryCallingCode } = fromService('libphonenumber-js/max')
const countries = Object.keys(examples)
const abroad = (i) => {
  const country = countries[i % countries.length]
  return `+${getCountryCallingCode(country)}${examples[country].slice(0, -2)}${digits(2)}`
}

const home = { homeCountry: 'GB' }
const withoutCarrier = (requests) =>
  requests.map((one) => {
    const hour = (one.at - MIDNIGHT) / HOUR
    return hour > 18 && hour < 18.5 ? { ...one, typesAfter: undefined } : one
  })
const SCENARIOS = [
  ['normal day, 3,000 users', home, consumers(3_000)],
  ['normal day, half of the codes typed', home, consumers(3_000, 0.5)],
  ['company, 400 phones of one prefix, 9:00', home, company(400)],
  ['the same on two days', home, [...company(400), ...company(400, 1)]],
  ['normal day, no SMS arrives 18:00 to 18:30', home, withoutCarrier(consumers(3_000))],
  ['attack abroad, home country only', home, every(1_000, 10 * HOUR, 11 * HOUR, () => `+92300${digits(7)}`)],
  [
    'attack on one prefix, 1 per second',
    home,
    every(1_000, 10 * HOUR, 11 * HOUR, () => `+44740077${digits(4)}`),
  ],
  ['attack on one prefix, 6 per hour', home, every(10 * MINUTE, 0, DAY, () => `+44740077${digits(4)}`)],
  [
    'attack on 50 prefixes, 1 per second, in a normal day',
    home,
    [
      ...consumers(3_000),
      ...every(1_000, 10 * HOUR, 11 * HOUR, (i) => `+447400${i % 10}${Math.floor(i / 10) % 5}${digits(4)}`),
    ],
  ],
  [
    'attack on one country, countries=all',
    {},
    every(1_000, 10 * HOUR, 11 * HOUR, () => `+92300${digits(7)}`),
  ],
  ['attack on all countries, countries=all', {}, every(1_000, 10 * HOUR, 11 * HOUR, abroad)],
]

const codes = new Map()
const receiver = createServer((request, response) => {
  let body = ''
  request.on('data', (chunk) => {
    body += chunk
  })
  request.on('end', () => {
    const { to, code } = JSON.parse(body)
    codes.set(to, code)
    response.end('{}')
  })
})
await new Promise((resolve) => receiver.listen(0, '127.0.0.1', resolve))

async function simulate([name, options, requests]) {
  now = MIDNIGHT
  const events = []
  const service = await createService({
    ...options,
    dataDir: 'memory://',
    secret: 'a secret for a simulation, long enough',
    delivery: `http://127.0.0.1:${receiver.address().port}/`,
    logger: ({ event }) => events.push(event),
  })
  const queue = requests.map((one) => ({ ...one, attempts: 0 })).sort((a, b) => a.at - b.at)
  const sent = { users: 0, pumped: 0 }
  let usersRefused = 0
  let usersDelayed = 0
  while (queue.length > 0) {
    const next = queue.shift()
    now = Math.max(now, next.at)
    const contact = { kind: 'phone', phone: next.phone }
    if (next.types) {
      await service.mfa.verify({
        method: 'sms',
        contact,
        kind: 'code',
        code: codes.get(next.phone) ?? '000000',
      })
      continue
    }
    const answer = await service.mfa.send({ method: 'sms', contact })
    if (answer.outcome === 'sent') {
      sent[next.isUser ? 'users' : 'pumped'] += 1
      if (next.isUser && next.attempts > 0) usersDelayed += 1
      if (next.typesAfter !== undefined) insert(queue, { ...next, at: now + next.typesAfter, types: true })
    } else if (next.isUser) {
      // Users try again after a minute, twice.
      if (next.attempts < 2) insert(queue, { ...next, at: now + MINUTE, attempts: next.attempts + 1 })
      else usersRefused += 1
    }
  }
  await service.close()
  const users = requests.filter(({ isUser }) => isUser).length
  const count = (event) => events.filter((one) => one === event).length
  return [
    name,
    requests.length - users,
    sent.pumped,
    users,
    usersDelayed,
    usersRefused,
    count('traffic.untyped'),
    count('traffic.paused'),
  ]
}

/** Keeps the queue ordered by time. */
function insert(queue, item) {
  let low = 0
  let high = queue.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (queue[middle].at <= item.at) low = middle + 1
    else high = middle
  }
  queue.splice(low, 0, item)
}

console.log(
  '| day | pumped: requests | pumped: sent | users | users who waited | users without a code | alarms | pauses |',
)
console.log('| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |')
for (const scenario of SCENARIOS.filter(([name]) => name.includes(process.argv[2] ?? ''))) {
  console.log(`| ${(await simulate(scenario)).map((cell) => cell.toLocaleString('en')).join(' | ')} |`)
}
receiver.close()
