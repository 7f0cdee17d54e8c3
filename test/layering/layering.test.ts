import { describe, expect, it } from 'vitest'
import { everyCase } from '../kit/every-case.js'
import { cyclesIn, floorsOf, type Import, readSource, type Source, sourcesIn } from './scan.js'

/*
 * The tree is the architecture: imports point down. This table lists each module with the modules it may use, from the
 * bottom up. `types` lists the modules that it may import types from.
 */

const plugin = sourcesIn('src')
const service = sourcesIn('service/src')
const example = sourcesIn('example-app/src')

/** A module is a folder of `src`, or a file beside the folders. */
const moduleOf = (path: string) => path.replace(/^src\//, '').split('/')[0] ?? ''

// Small files that depend on nothing else in the plugin, and that every module may use.
const LEAVES = ['digest.ts', 'errors.ts', 'option-rules.ts', 'time.ts']

// Any module may import the type of the settings; only `mfa.ts` and `mfa-client.ts` use the functions that read them.
const CONFIGURED = ['settings.ts']

interface Layer {
  readonly uses: readonly string[]
  readonly types?: readonly string[]
}

const LAYERS: Readonly<Record<string, Layer>> = {
  'digest.ts': { uses: [] },
  'errors.ts': { uses: [] },
  'time.ts': { uses: [] },
  'option-rules.ts': { uses: ['time.ts'] },
  protocol: { uses: LEAVES },
  'host.ts': { uses: [], types: ['protocol'] },

  // Runs in browsers. A bundle of its own, so it may use only what needs no Node.
  browser: { uses: ['protocol'] },

  stores: { uses: LEAVES },
  client: { uses: ['protocol', ...LEAVES] },
  limits: { uses: ['stores', 'protocol', ...LEAVES], types: CONFIGURED },
  trust: { uses: ['stores', 'protocol', ...LEAVES] },
  session: { uses: ['protocol', ...LEAVES], types: [...CONFIGURED, 'host.ts', 'flows', 'trust'] },

  // A flow takes the session's record as a value and returns the next one, so it knows `session` as a type only.
  flows: {
    uses: ['stores', 'protocol', ...LEAVES],
    types: ['session', 'limits', 'trust', 'diagnostics', ...CONFIGURED],
  },
  // A page knows the refusals that it explains as types.
  pages: { uses: ['protocol', ...LEAVES], types: ['flows'] },
  // Notices use the languages of the pages.
  notices: { uses: ['pages', 'protocol', ...LEAVES] },
  // Notifies the contacts of an account by itself, as most of its notices follow from no request.
  recovery: {
    uses: ['stores', 'trust', 'notices', 'protocol', ...LEAVES],
    // `session` for what it asks of the open resets, and for events.
    types: ['limits', 'session', ...CONFIGURED],
  },
  // Reads requests and writes responses, and knows no use case.
  http: {
    uses: ['pages', 'session', 'protocol', ...LEAVES],
    types: ['trust', ...CONFIGURED],
  },
  // The use cases of a request, which the entry points share.
  actions: {
    uses: ['http', 'recovery', 'flows', 'pages', 'notices', 'session', 'trust', 'protocol', ...LEAVES],
    types: ['diagnostics', 'limits', ...CONFIGURED],
  },

  routers: {
    uses: ['actions', 'http', 'recovery', 'flows', 'pages', 'notices', 'session', 'protocol', ...LEAVES],
    types: ['trust', ...CONFIGURED],
  },
  guard: {
    uses: ['actions', 'http', 'flows', 'session', 'protocol', ...LEAVES],
    types: [...CONFIGURED, 'host.ts'],
  },
  passport: { uses: ['actions', 'http', 'flows', 'session', 'protocol', ...LEAVES], types: CONFIGURED },

  // Inspects other modules; no module below uses it.
  diagnostics: { uses: ['session', 'protocol', ...LEAVES], types: CONFIGURED },

  // For the tests of an app. It implements a service and knows nothing of the plugin that calls it.
  testing: { uses: ['protocol', ...LEAVES] },

  // The command line. No module uses it.
  cli: { uses: ['testing'] },

  // The texts that a host may replace, on pages and in notices.
  'texts.ts': { uses: ['pages', 'notices', 'protocol'] },

  // The groups of options, each with its types, comments, rules and defaults.
  options: {
    uses: ['host.ts', 'stores', 'texts.ts', 'protocol', ...LEAVES],
    types: ['pages', 'notices'],
  },
  'options.ts': {
    uses: ['options', 'host.ts', 'diagnostics', 'limits', 'recovery', 'trust', ...LEAVES],
    types: ['protocol', 'client', 'flows'],
  },
  'settings.ts': {
    uses: ['options.ts', 'client', 'protocol', ...LEAVES],
  },

  // The client by itself, without Express.
  'mfa-client.ts': { uses: ['settings.ts', 'client', 'errors.ts'], types: ['options.ts', 'protocol'] },

  // What an app does with a request of the service, without a client.
  'verify-webhook.ts': { uses: ['errors.ts'], types: ['protocol'] },

  'mfa.ts': {
    uses: [
      'settings.ts',
      'diagnostics',
      'client',
      'limits',
      'stores',
      'trust',
      'recovery',
      'flows',
      'pages',
      'http',
      'actions',
      ...LEAVES,
    ],
    types: ['protocol'],
  },
  'create-mfa.ts': {
    uses: ['mfa.ts', 'actions', 'routers', 'guard', 'passport'],
    types: ['options.ts', 'flows', 'protocol'],
  },
  'index.ts': {
    uses: ['create-mfa.ts', 'mfa-client.ts', 'verify-webhook.ts', 'guard', 'errors.ts'],
    types: [
      'actions',
      'http',
      'options',
      'options.ts',
      'host.ts',
      'time.ts',
      'diagnostics',
      'protocol',
      'client',
      'flows',
      'pages',
      'notices',
      'texts.ts',
      'stores',
      'limits',
      'trust',
      'recovery',
      'passport',
      'guard',
    ],
  },
}

/** Where each npm package may be used, and where its types may be imported. */
const PACKAGES: Readonly<Record<string, Layer>> = {
  undici: { uses: ['src/client/live-client.ts', 'src/client/transport.ts'] },
  // Optional, both.
  '@opentelemetry/api': { uses: ['src/client/transport.ts'] },
  'libphonenumber-js': { uses: ['src/client/verb-client.ts'] },
  // To bring back the user of a pending login.
  passport: { uses: ['src/session/passport-request.ts'] },
  'express-session': { uses: [], types: ['src/session/store.ts', 'src/session/store.ts'] },
  express: {
    uses: ['src/create-mfa.ts', 'src/routers/', 'src/http/'],
    types: [
      'src/options.ts',
      'src/options/',
      'src/trust/options.ts',
      'src/actions/',
      'src/session/',
      'src/guard/',
      'src/passport/',
      'src/diagnostics/',
    ],
  },
  zod: { uses: ['src/'] },
  '@simplewebauthn/browser': { uses: ['src/browser/ceremony.ts'] },
  '@babel/parser': { uses: ['src/cli/read-app.ts'] },
}

const compiled = (sources: readonly Source[]) =>
  sources.map(({ imports, ...source }) => ({ ...source, imports: imports.filter(({ isType }) => !isType) }))

const describeImport = ({ from, to, isType }: Import) => `${from} → ${to}${isType ? ' (type)' : ''}`

function broken(sources: readonly Source[], isAllowed: (one: Import) => boolean): string[] {
  return sources.flatMap(({ imports }) => imports.filter((one) => !isAllowed(one)).map(describeImport))
}

function pointsDown({ from, to, isPackage, isType }: Import): boolean {
  if (isPackage) return true
  const [own, other] = [moduleOf(from), moduleOf(to)]
  const layer = LAYERS[own]
  if (!to.startsWith('src/')) return false
  return own === other || !!layer?.uses.includes(other) || (isType && !!layer?.types?.includes(other))
}

function isAllowedThere({ from, to, isPackage, isType }: Import): boolean {
  if (!isPackage || to.startsWith('node:')) return true
  const layer = PACKAGES[to]
  const lies = (places: readonly string[] = []) => places.some((place) => from.startsWith(place))
  return lies(layer?.uses) || (isType && lies(layer?.types))
}

describe('the layering of the plugin', () => {
  it('lists every module', () => {
    expect([...new Set(plugin.map(({ path }) => moduleOf(path)))].sort()).toEqual(Object.keys(LAYERS).sort())
  })

  it('allows no two modules to use each other', () => {
    const below = (name: string, seen = new Set<string>()): Set<string> => {
      for (const other of LAYERS[name]?.uses ?? []) {
        if (!seen.has(other)) below(other, seen.add(other))
      }
      return seen
    }
    for (const name of Object.keys(LAYERS)) expect(below(name), name).not.toContain(name)
  })

  it('has imports that point down', () => {
    expect(broken(plugin, pointsDown)).toEqual([])
  })

  it('has at most twelve floors', () => {
    const floors = floorsOf(compiled(plugin), moduleOf)
    expect(floors).toBeLessThanOrEqual(12)
    expect(floors).toBeGreaterThan(8)
  })

  it('loads nothing into browsers but their own module, and the reasons of failures', () => {
    const loaded = compiled(plugin.filter(({ path }) => moduleOf(path) === 'browser'))
    const others = loaded.flatMap(({ imports }) => imports.map(({ to }) => to))
    expect([...new Set(others.filter((to) => !to.startsWith('src/browser/')))].sort()).toEqual([
      '@simplewebauthn/browser',
      'src/protocol/keys.ts',
    ])
  })

  it('has no import cycle, not even of types', () => {
    expect(cyclesIn(plugin)).toEqual([])
  })

  it('imports each package only where it is listed', () => {
    expect(broken(plugin, isAllowedThere)).toEqual([])
  })

  it('touches the session of the request in src/session/store.ts only', () => {
    const session = /\b(?:req|request)\s*(?:\?\.|\.)\s*session\b(?!ID)|\bsessionStore\b|['"]session['"]/
    expect(plugin.filter(({ code }) => session.test(code)).map(({ path }) => path)).toEqual([
      'src/session/store.ts',
    ])
  })

  it('looks up what it keeps for a request only where a request enters, and hands it over from there', () => {
    const lookUp = /\brequestState(?:<[^(]*>)?\(/
    expect(plugin.filter(({ code }) => lookUp.test(code)).map(({ path }) => path)).toEqual([
      // Functions that the host calls with its request.
      'src/actions/account.ts',
      // Node reports a request before any handler sees it.
      'src/diagnostics/wiring.ts',
      'src/guard/acting.ts',
      'src/guard/require-mfa.ts',
      'src/guard/session-gate.ts',
      'src/guard/start-mfa.ts',
      'src/guard/upgrade.ts',
      // A response knows its request alone.
      'src/http/problem.ts',
      'src/passport/strategy.ts',
      'src/routers/route.ts',
      // Passport calls `req.logIn` with the request.
      'src/session/log-in.ts',
      'src/session/state.ts',
    ])
  })

  it('uses the network in the client only, in browsers, and in the test kit for a port of this machine', () => {
    const network = /\bfetch\(|\bWebSocket\(|node:(?:https?|net|tls|dgram|http2)['"]/
    expect(plugin.filter(({ code }) => network.test(code)).map(({ path }) => path)).toEqual([
      'src/browser/request.ts',
      'src/client/live-client.ts',
      // Makes a request and a response for the host's app, without a connection.
      'src/guard/upgrade.ts',
      'src/testing/probed-app.ts',
    ])
  })

  it('has an index.ts only where a package entry is, and no module imports through it', () => {
    const entries = plugin.filter(({ path }) => path.endsWith('/index.ts')).map(({ path }) => path)
    expect(entries).toEqual([
      'src/browser/index.ts',
      'src/index.ts',
      'src/protocol/index.ts',
      'src/testing/index.ts',
    ])
    expect(broken(plugin, ({ to }) => !entries.includes(to))).toEqual([])
    expect(plugin.filter(({ code }) => /export \*(?! as)/.test(code)).map(({ path }) => path)).toEqual([])
  })
})

describe('time limits', () => {
  it('never use AbortSignal.any, which loses them at garbage collection', () => {
    const all = [...plugin, ...service, ...example]
    expect(all.filter(({ code }) => /AbortSignal\.any\(/.test(code)).map(({ path }) => path)).toEqual([])
  })
})

// `service/test/layering.test.ts` has the layering of the service.
describe('the layering of the packages', () => {
  const ofPlugin = (to: string) => /^(?:countersign|@countersign)(?:\/|$)/.test(to)

  it('lets the example app import only the entries of plugin and service', () => {
    const entries = ['countersign', 'countersign/protocol', 'countersign/testing', '@countersign/service']
    const allowed = ({ to, isPackage }: Import) =>
      isPackage ? !ofPlugin(to) || entries.includes(to) : to.startsWith('example-app/src/')
    expect(broken(example, allowed)).toEqual([])
  })

  it('lets the plugin import neither of the others', () => {
    expect(broken(plugin, ({ to, isPackage }) => !isPackage || !ofPlugin(to))).toEqual([])
  })

  it('has no import cycle in the compiled example app', () => {
    expect(cyclesIn(compiled(example))).toEqual([])
  })
})

describe('the scanner of imports', () => {
  const seen = (text: string) => readSource('src/flows/x.ts', text).imports.map(describeImport)
  it('finds the import in', () =>
    everyCase(
      [
        ["import { a } from '../session/store.js'", 'src/flows/x.ts → src/session/store.ts'],
        ["import type { A } from '../session/store.js'", 'src/flows/x.ts → src/session/store.ts (type)'],
        ["import { type A, b } from './y.js'", 'src/flows/x.ts → src/flows/y.ts'],
        ["import { a,\tb } from 'undici'", 'src/flows/x.ts → undici'],
        ["import * as z from 'zod'", 'src/flows/x.ts → zod'],
        ["import d, { e } from 'express'", 'src/flows/x.ts → express'],
        ["import '../host.js'", 'src/flows/x.ts → src/host.ts'],
        ["export { a } from '../../service/src/x.js'", 'src/flows/x.ts → service/src/x.ts'],
        ["export * from './y.js'", 'src/flows/x.ts → src/flows/y.ts'],
        ["const x = await import('undici')", 'src/flows/x.ts → undici'],
        ["type A = import('../pages/view.js').View", 'src/flows/x.ts → src/pages/view.ts (type)'],
      ],
      ([text, expected]) => {
        expect(seen(text)).toEqual([expected])
      },
    ))

  it('ignores comments and strings', () => {
    expect(seen("// import { a } from 'x'\n/* import 'y' */\nconst s = `take it from 'z'`")).toEqual([])
  })

  it('finds a cycle', () => {
    const one = readSource('src/a.ts', "import './b.js'")
    const two = readSource('src/b.ts', "import type { A } from './a.js'")
    expect(cyclesIn([one, two])).toEqual(['src/a.ts → src/b.ts → src/a.ts'])
  })
})
