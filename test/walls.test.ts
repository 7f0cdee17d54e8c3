import { describe, expect, it } from 'vitest'
import { cyclesIn, type Import, readSource, type Source, sourcesIn } from './walls/scan.js'

/*
 * The tree is the architecture: imports point down. Each room is listed with what it may use, from the bottom up;
 * `types` are what it may know of without using it.
 */

const plugin = sourcesIn('src')
const service = sourcesIn('service/src')
const example = sourcesIn('example-app/src')

/** A room is a folder of `src`, or a file that lies beside the folders. */
const roomOf = (path: string) => path.replace(/^src\//, '').split('/')[0] ?? ''

// Small things that know nothing of the plugin, and that anybody may use.
const LEAVES = [
  'digest.ts',
  'errors.ts',
  'given.ts',
  'whole-number.ts',
  'duration.ts',
  'postgres-table.ts',
  'rules.ts',
  'in-time.ts',
]

// What is configured is read by whoever needs it, as a type; only `mfa.ts` and `mfa-client.ts` have the functions that read it.
const CONFIGURED = ['settings.ts']

interface Walls {
  readonly uses: readonly string[]
  readonly types?: readonly string[]
}

const ROOMS: Readonly<Record<string, Walls>> = {
  'digest.ts': { uses: [] },
  'errors.ts': { uses: [] },
  'given.ts': { uses: [] },
  'whole-number.ts': { uses: [] },
  'duration.ts': { uses: [] },
  'rules.ts': { uses: [] },
  'in-time.ts': { uses: [] },
  'postgres-table.ts': { uses: ['in-time.ts'] },
  protocol: { uses: LEAVES },
  'host.ts': { uses: [], types: ['protocol'] },

  client: { uses: ['protocol', ...LEAVES] },
  limits: { uses: ['protocol', ...LEAVES], types: CONFIGURED },
  session: { uses: ['protocol', ...LEAVES], types: [...CONFIGURED, 'host.ts', 'flows', 'trust'] },

  trust: { uses: ['protocol', ...LEAVES], types: ['options.ts'] },

  // `session` is its record, as a type: a flow gets the state and returns the next one.
  flows: { uses: ['protocol', ...LEAVES], types: ['session', 'limits', 'trust', 'doctor', ...CONFIGURED] },
  // A page knows by type the refusals that it explains.
  pages: { uses: ['protocol', ...LEAVES], types: ['flows'] },
  // In the languages of the pages.
  notices: { uses: ['pages', 'protocol', ...LEAVES] },
  visit: {
    uses: ['flows', 'pages', 'notices', 'session', 'trust', 'protocol', ...LEAVES],
    types: ['doctor', 'limits', ...CONFIGURED],
  },

  routers: {
    uses: ['visit', 'flows', 'pages', 'notices', 'session', 'protocol', ...LEAVES],
    types: ['trust', ...CONFIGURED],
  },
  guard: { uses: ['visit', 'flows', 'session', 'protocol', ...LEAVES], types: CONFIGURED },
  passport: { uses: ['visit', 'flows', 'session', 'protocol', ...LEAVES], types: CONFIGURED },

  // Looks at what others hold; nobody below asks it for anything.
  doctor: { uses: ['session', ...LEAVES], types: CONFIGURED },

  // For the tests of an app: it speaks for a service, and knows nothing of the plugin that asks it.
  testing: { uses: ['protocol', ...LEAVES] },

  // What may be said otherwise, on the pages and in notices.
  'texts.ts': { uses: ['pages', 'notices'] },

  // What an app writes is described in the words of the rooms that it is for.
  'options.ts': {
    uses: ['host.ts'],
    types: [
      'protocol',
      'client',
      'flows',
      'pages',
      'limits',
      'trust',
      'notices',
      'texts.ts',
      'doctor',
      'duration.ts',
      'postgres-table.ts',
    ],
  },
  'settings.ts': {
    uses: ['client', 'doctor', 'limits', 'texts.ts', 'trust', ...LEAVES],
    types: ['options.ts', 'protocol'],
  },

  // A door of its own: the service without Express.
  'mfa-client.ts': { uses: ['settings.ts', 'client'], types: ['options.ts', 'protocol'] },

  'mfa.ts': {
    uses: [
      'settings.ts',
      'doctor',
      'client',
      'limits',
      'trust',
      'flows',
      'pages',
      'visit',
      'routers',
      'guard',
      'passport',
      ...LEAVES,
    ],
    types: ['options.ts', 'visit', 'protocol'],
  },
  'index.ts': {
    uses: ['mfa.ts', 'mfa-client.ts', 'guard', 'errors.ts'],
    types: [
      'visit',
      'options.ts',
      'host.ts',
      'duration.ts',
      'doctor',
      'protocol',
      'client',
      'flows',
      'pages',
      'notices',
      'texts.ts',
      'trust',
      'passport',
      'guard',
    ],
  },
}

/** Where a package of the outside world may be used, and where it may be known as a type. */
const PACKAGES: Readonly<Record<string, Walls>> = {
  undici: { uses: ['src/client/transport.ts'] },
  'rate-limiter-flexible': { uses: ['src/limits/counter.ts'] },
  'passport-strategy': { uses: ['src/passport/strategy.ts'] },
  'express-session': { uses: [], types: ['src/session/slot.ts'] },
  express: {
    uses: ['src/mfa.ts', 'src/routers/', 'src/visit/'],
    types: ['src/options.ts', 'src/session/', 'src/guard/', 'src/passport/', 'src/doctor/'],
  },
  zod: { uses: ['src/'] },
}

const compiled = (sources: readonly Source[]) =>
  sources.map(({ imports, ...source }) => ({ ...source, imports: imports.filter(({ isType }) => !isType) }))

const tell = ({ from, to, isType }: Import) => `${from} → ${to}${isType ? ' (type)' : ''}`

function broken(sources: readonly Source[], isAllowed: (one: Import) => boolean): string[] {
  return sources.flatMap(({ imports }) => imports.filter((one) => !isAllowed(one)).map(tell))
}

function pointsDown({ from, to, isPackage, isType }: Import): boolean {
  if (isPackage) return true
  const [room, other] = [roomOf(from), roomOf(to)]
  const walls = ROOMS[room]
  if (!to.startsWith('src/')) return false
  return room === other || !!walls?.uses.includes(other) || (isType && !!walls?.types?.includes(other))
}

function isKnownThere({ from, to, isPackage, isType }: Import): boolean {
  if (!isPackage || to.startsWith('node:')) return true
  const walls = PACKAGES[to]
  const lies = (places: readonly string[] = []) => places.some((place) => from.startsWith(place))
  return lies(walls?.uses) || (isType && lies(walls?.types))
}

describe('the walls of the plugin', () => {
  it('every room is known here', () => {
    expect([...new Set(plugin.map(({ path }) => roomOf(path)))].sort()).toEqual(Object.keys(ROOMS).sort())
  })

  it('the walls themselves point down: no two rooms may use each other', () => {
    const below = (room: string, seen = new Set<string>()): Set<string> => {
      for (const other of ROOMS[room]?.uses ?? []) {
        if (!seen.has(other)) below(other, seen.add(other))
      }
      return seen
    }
    for (const room of Object.keys(ROOMS)) expect(below(room), room).not.toContain(room)
  })

  it('imports point down', () => {
    expect(broken(plugin, pointsDown)).toEqual([])
  })

  it('nothing goes round in a circle, not even types', () => {
    expect(cyclesIn(plugin)).toEqual([])
  })

  it('each package is used in its one place', () => {
    expect(broken(plugin, isKnownThere)).toEqual([])
  })

  it('only src/session/slot.ts touches the session of the request', () => {
    const session = /\b(?:req|request)\s*(?:\?\.|\.)\s*session\b(?!ID)|\bsessionStore\b|['"]session['"]/
    expect(plugin.filter(({ code }) => session.test(code)).map(({ path }) => path)).toEqual([
      'src/session/slot.ts',
    ])
  })

  it('only the client talks to the network; a test that walks an app, to a port of this machine', () => {
    const network = /\bfetch\(|\bWebSocket\(|node:(?:https?|net|tls|dgram|http2)['"]/
    expect(plugin.filter(({ code }) => network.test(code)).map(({ path }) => path)).toEqual([
      'src/testing/probed-app.ts',
    ])
  })

  it('an index.ts is a door, never a barrel inside, and nobody inside goes through a door', () => {
    const doors = plugin.filter(({ path }) => path.endsWith('/index.ts')).map(({ path }) => path)
    expect(doors).toEqual(['src/index.ts', 'src/protocol/index.ts', 'src/testing/index.ts'])
    expect(broken(plugin, ({ to }) => !doors.includes(to))).toEqual([])
    expect(plugin.filter(({ code }) => /export \*/.test(code)).map(({ path }) => path)).toEqual([])
  })
})

describe('time limits', () => {
  it('are never part of AbortSignal.any, which forgets them when memory is collected', () => {
    const all = [...plugin, ...service, ...example]
    expect(all.filter(({ code }) => /AbortSignal\.any\(/.test(code)).map(({ path }) => path)).toEqual([])
  })
})

describe('the walls between the packages', () => {
  const ofPlugin = (to: string) => /^(?:countersign|@countersign)(?:\/|$)/.test(to)

  it('the service knows the protocol of the plugin, and nothing else of it', () => {
    const allowed = ({ to, isPackage }: Import) =>
      isPackage ? !ofPlugin(to) || to === 'countersign/protocol' : to.startsWith('service/src/')
    expect(broken(service, allowed)).toEqual([])
  })

  it('the example app goes through the doors of both', () => {
    const doors = ['countersign', 'countersign/protocol', 'countersign/testing', '@countersign/service']
    const allowed = ({ to, isPackage }: Import) =>
      isPackage ? !ofPlugin(to) || doors.includes(to) : to.startsWith('example-app/src/')
    expect(broken(example, allowed)).toEqual([])
  })

  it('the plugin knows neither', () => {
    expect(broken(plugin, ({ to, isPackage }) => !isPackage || !ofPlugin(to))).toEqual([])
  })

  it('nothing goes round in a circle in them either, once compiled', () => {
    expect([...cyclesIn(compiled(service)), ...cyclesIn(compiled(example))]).toEqual([])
  })

  it('only its own rooms touch what the service is made of', () => {
    const places: Readonly<Record<string, string>> = {
      express: 'service/src/http/',
      nodemailer: 'service/src/delivery/smtp.ts',
      otpauth: 'service/src/app-factor/',
      qr: 'service/src/app-factor/',
      pg: 'service/src/store/',
      commander: 'service/src/cli/',
      'libphonenumber-js/max': 'service/src/contacts/phone.ts',
      pino: 'service/src/log.ts',
      'prom-client': 'service/src/metrics/',
      'zod-openapi': 'service/src/http/openapi/',
    }
    const isAllowed = ({ from, to, isType }: Import) => isType || from.startsWith(places[to] ?? '')
    expect(broken(service, isAllowed)).toEqual([])
  })

  it('what an operator can do knows neither the command line nor HTTP, so that pages can do it, too', () => {
    const isIn = (room: string, path: string) => path.startsWith(`service/src/${room}/`)
    const isAllowed = ({ from, to }: Import) =>
      isIn('cli', from) || !(isIn('cli', to) || (isIn('operator', from) && isIn('http', to)))
    expect(broken(service, isAllowed)).toEqual([])
  })
})

describe('the scanner sees', () => {
  const seen = (text: string) => readSource('src/flows/x.ts', text).imports.map(tell)
  it.each([
    ["import { a } from '../session/slot.js'", 'src/flows/x.ts → src/session/slot.ts'],
    ["import type { A } from '../session/slot.js'", 'src/flows/x.ts → src/session/slot.ts (type)'],
    ["import { type A, b } from './y.js'", 'src/flows/x.ts → src/flows/y.ts'],
    ["import { a,\tb } from 'undici'", 'src/flows/x.ts → undici'],
    ["import * as z from 'zod'", 'src/flows/x.ts → zod'],
    ["import d, { e } from 'express'", 'src/flows/x.ts → express'],
    ["import '../host.js'", 'src/flows/x.ts → src/host.ts'],
    ["export { a } from '../../service/src/x.js'", 'src/flows/x.ts → service/src/x.ts'],
    ["export * from './y.js'", 'src/flows/x.ts → src/flows/y.ts'],
    ["const x = await import('undici')", 'src/flows/x.ts → undici'],
    ["type A = import('../pages/view.js').View", 'src/flows/x.ts → src/pages/view.ts (type)'],
  ])('%s', (text, expected) => {
    expect(seen(text)).toEqual([expected])
  })

  it('nothing in comments and texts', () => {
    expect(seen("// import { a } from 'x'\n/* import 'y' */\nconst s = `take it from 'z'`")).toEqual([])
  })

  it('a circle', () => {
    const one = readSource('src/a.ts', "import './b.js'")
    const two = readSource('src/b.ts', "import type { A } from './a.js'")
    expect(cyclesIn([one, two])).toEqual(['src/a.ts → src/b.ts → src/a.ts'])
  })
})
