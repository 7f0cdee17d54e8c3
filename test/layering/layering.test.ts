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
const LEAVES = [
  'digest.ts',
  'errors.ts',
  'json.ts',
  'no-op.ts',
  'option-rules.ts',
  'products.ts',
  'remember.ts',
  'shape.ts',
  'time.ts',
]

interface Layer {
  readonly uses: readonly string[]
  readonly types?: readonly string[]
}

const LAYERS: Readonly<Record<string, Layer>> = {
  'digest.ts': { uses: [] },
  'errors.ts': { uses: [] },
  'json.ts': { uses: [] },
  'no-op.ts': { uses: [] },
  'products.ts': { uses: [] },
  'remember.ts': { uses: [] },
  'shape.ts': { uses: [] },
  'time.ts': { uses: [] },
  'option-rules.ts': { uses: ['time.ts'], types: ['shape.ts'] },
  protocol: { uses: LEAVES },

  // A page knows the refusals that it explains as types.
  pages: { uses: ['protocol', ...LEAVES], types: ['flows'] },
  // `session` for what it asks of the open resets.
  stores: { uses: ['protocol', ...LEAVES], types: ['options', 'session'] },
  options: { uses: ['stores', 'pages', 'protocol', ...LEAVES], types: ['flows'] },
  client: { uses: ['options', 'protocol', ...LEAVES] },
  // Speech to text. Nothing in the plugin knows it.
  speech: {
    uses: ['client', 'options', 'protocol', 'errors.ts', 'json.ts', 'option-rules.ts', 'shape.ts'],
    types: ['time.ts'],
  },
  session: { uses: ['protocol', ...LEAVES], types: ['options', 'stores', 'flows'] },
  // A flow takes the session's record as a value and returns the next one, so it knows `session` as a type only.
  flows: { uses: ['stores', 'pages', 'protocol', ...LEAVES], types: ['options', 'session'] },
  // A table of data. What serves the routes and what requests them read it.
  routes: { uses: ['protocol'], types: ['pages'] },
  web: {
    uses: ['routes', 'flows', 'session', 'stores', 'pages', 'options', 'protocol', ...LEAVES],
  },
  // Finds the routes of a running app, signs in and looks for bypasses. It knows an app by HTTP, and where the plugin has its routes.
  probe: { uses: ['routes'] },
  // For the tests of an app. It implements a service and knows nothing of the plugin that calls it but the addresses of its routes.
  testing: { uses: ['probe', 'routes', 'protocol', ...LEAVES] },
  // The command line. No module uses it.
  cli: { uses: ['probe', 'testing', 'routes', 'client', 'options', 'protocol', 'errors.ts'] },

  'mfa.ts': {
    uses: ['web', 'flows', 'client', 'stores', 'pages', 'options', ...LEAVES],
    types: ['protocol'],
  },
  'create-mfa.ts': { uses: ['mfa.ts', 'web', 'routes'], types: ['options', 'flows', 'protocol'] },
  'index.ts': {
    uses: ['create-mfa.ts', 'client', 'web', 'errors.ts'],
    types: ['routes', 'options', 'stores', 'flows', 'pages', 'protocol', 'time.ts'],
  },
}

/** Where each npm package may be used, and where its types may be imported. */
const PACKAGES: Readonly<Record<string, Layer>> = {
  undici: {
    uses: ['src/speech/live-client.ts', 'src/client/agent.ts'],
    types: ['src/client/http-transport.ts'],
  },
  // Optional, both.
  '@opentelemetry/api': { uses: ['src/client/span.ts'] },
  'libphonenumber-js': { uses: ['src/client/phone-format.ts'] },
  // To bring back the user of a pending login.
  passport: { uses: ['src/session/ungated-logins.ts', 'src/session/withheld-user.ts'] },
  'express-session': {
    uses: [],
    types: ['src/session/saving.ts', 'src/session/store.ts', 'src/session/transport.ts'],
  },
  express: {
    uses: ['src/create-mfa.ts', 'src/web/routers/', 'src/web/http/'],
    types: ['src/options/', 'src/session/', 'src/web/'],
  },
  zod: { uses: ['src/'] },
  qr: { uses: ['src/pages/qr-code.ts'] },
  'qr/decode.js': { uses: ['src/cli/contract/app-user.ts'] },
  pngjs: { uses: ['src/cli/contract/app-user.ts'] },
  '@simplewebauthn/browser': { uses: ['src/pages/browser/ceremony.ts'] },
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

  it('has at most eleven floors', () => {
    const floors = floorsOf(compiled(plugin), moduleOf)
    expect(floors).toBeLessThanOrEqual(11)
    expect(floors).toBeGreaterThan(6)
  })

  it('points, inside web, from routes and guards to the use cases of a request, and from these to http', () => {
    const above: Readonly<Record<string, readonly string[]>> = {
      http: ['actions', 'routers', 'guard', 'passport', 'diagnostics'],
      actions: ['routers', 'guard', 'passport'],
    }
    const inside = (path: string) => /^src\/web\/(\w+)\//.exec(path)?.[1] ?? ''
    expect(broken(plugin, ({ from, to }) => !above[inside(from)]?.includes(inside(to)))).toEqual([])
  })

  it('keeps pages free of their script for browsers', () => {
    const pages = plugin.filter(
      ({ path }) => path.startsWith('src/pages/') && !path.startsWith('src/pages/browser/'),
    )
    expect(broken(pages, ({ to }) => !to.startsWith('src/pages/browser/'))).toEqual([])
  })

  it('loads nothing into browsers but their own module, and the reasons of failures', () => {
    const loaded = compiled(plugin.filter(({ path }) => path.startsWith('src/pages/browser/')))
    const others = loaded.flatMap(({ imports }) => imports.map(({ to }) => to))
    expect([...new Set(others.filter((to) => !to.startsWith('src/pages/browser/')))].sort()).toEqual([
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

  it('touches the session of the request in src/session/transport.ts and src/session/store.ts only', () => {
    const session = /\b(?:req|request)\s*(?:\?\.|\.)\s*session\b(?!ID)|\bsessionStore\b|['"]session['"]/
    expect(plugin.filter(({ code }) => session.test(code)).map(({ path }) => path)).toEqual([
      'src/session/store.ts',
      'src/session/transport.ts',
    ])
  })

  it('looks up what it keeps for a request only where a request enters, and hands it over from there', () => {
    const lookUp = /\b(?:(?:request|prepare)State|enterRequest)(?:<[^(]*>)?\(/
    expect(plugin.filter(({ code }) => lookUp.test(code)).map(({ path }) => path)).toEqual([
      // Passport calls `req.logIn` with the request.
      'src/session/log-in.ts',
      'src/session/request-state.ts',
      // Functions that the host calls with its request.
      'src/web/actions/account.ts',
      // The function with which a request enters behind its gate.
      'src/web/actions/context.ts',
      'src/web/guard/acting.ts',
      'src/web/guard/require-mfa.ts',
      'src/web/guard/session-gate.ts',
      'src/web/guard/start-mfa.ts',
      'src/web/guard/upgrade.ts',
      'src/web/passport/strategy.ts',
      'src/web/routers/mount.ts',
      'src/web/routers/route.ts',
      'src/web/tokens/handlers.ts',
    ])
  })

  it('uses the network in the clients only, in browsers, and for ports of this machine in the test kit and a relay', () => {
    const network = /\bfetch\(|\bWebSocket\(|node:(?:https?|net|tls|dgram|http2)['"]/
    expect(plugin.filter(({ code }) => network.test(code)).map(({ path }) => path)).toEqual([
      'src/cli/attack/relay.ts',
      'src/pages/browser/request.ts',
      'src/pages/browser/step-up.ts',
      'src/probe/probed-app.ts',
      'src/speech/live-client.ts',
      // Makes a request and a response for the host's app, without a connection.
      'src/web/guard/upgrade.ts',
    ])
  })

  it('has an index.ts only where a package entry is, and no module imports through it', () => {
    const entries = plugin.filter(({ path }) => path.endsWith('/index.ts')).map(({ path }) => path)
    expect(entries).toEqual([
      'src/index.ts',
      'src/pages/browser/index.ts',
      'src/protocol/index.ts',
      'src/speech/index.ts',
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
    const entries = [
      'countersign',
      'countersign/protocol',
      'countersign/speech',
      'countersign/testing',
      '@countersign/service',
    ]
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
        ["import '../time.js'", 'src/flows/x.ts → src/time.ts'],
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
