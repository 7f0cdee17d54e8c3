import { describe, expect, test } from 'vitest'
import { cyclesIn, floorsOf, type Import, sourcesIn } from '../../test/layering/scan.js'

/*
 * Imports point down. This table lists the modules of `service/src`, from the bottom up, with the modules below that
 * each one uses. `types` lists modules of which it imports only types.
 */

const ROOT = 'service/src/'
const sources = sourcesIn('service/src')

/** A module is a folder of `service/src`, or a file beside the folders. */
const moduleOf = (path: string) => path.slice(ROOT.length).split('/')[0] ?? ''

interface Layer {
  readonly uses?: readonly string[]
  readonly types?: readonly string[]
}

const LAYERS: Readonly<Record<string, Layer>> = {
  'html.ts': {},
  'json.ts': {},
  'time.ts': {},
  'try-to.ts': {},
  telemetry: {},
  'safe-fetch': {},
  process: { uses: ['json.ts', 'try-to.ts'] },
  store: { uses: ['time.ts', 'try-to.ts', 'process'] },
  // The type of an application, whose settings say how its messages are sent.
  messages: {
    uses: ['json.ts', 'time.ts', 'try-to.ts', 'telemetry', 'safe-fetch', 'process', 'store'],
    types: ['accounts'],
  },
  accounts: { uses: ['time.ts', 'try-to.ts', 'telemetry', 'process', 'store', 'messages'] },
  transcription: {
    uses: ['json.ts', 'time.ts', 'telemetry', 'safe-fetch', 'process', 'store', 'messages', 'accounts'],
  },
  flows: {
    uses: ['json.ts', 'time.ts', 'try-to.ts', 'telemetry', 'store', 'messages', 'accounts', 'transcription'],
  },
  // An operator's changes depend on neither the command line nor HTTP, so that other interfaces can offer them too.
  operator: { uses: ['time.ts', 'telemetry', 'process', 'store', 'messages', 'accounts', 'flows'] },
  api: {
    uses: [
      'html.ts',
      'json.ts',
      'time.ts',
      'try-to.ts',
      'telemetry',
      'store',
      'messages',
      'accounts',
      'transcription',
      'flows',
      'operator',
    ],
  },
  // The pages for operators. They load the whole plugin, so only `run` imports them, when they are switched on.
  console: {
    uses: ['html.ts', 'time.ts', 'telemetry', 'process', 'store', 'messages', 'accounts', 'operator'],
  },
  run: {
    uses: [
      'try-to.ts',
      'telemetry',
      'safe-fetch',
      'process',
      'store',
      'messages',
      'accounts',
      'transcription',
      'flows',
      'operator',
      'api',
      'console',
    ],
  },
  'main.ts': { uses: ['process', 'run'] },
  cli: {
    uses: [
      'time.ts',
      'try-to.ts',
      'process',
      'store',
      'messages',
      'accounts',
      'transcription',
      'flows',
      'operator',
      'run',
    ],
  },
  'index.ts': {
    uses: ['telemetry', 'process', 'store', 'transcription', 'operator', 'run'],
    types: ['time.ts', 'messages', 'accounts', 'flows'],
  },
}

/** The modules and files in which each package is used; types of a package may be imported anywhere. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  '@opentelemetry/api': ['telemetry/log/tracing.ts'],
  'countersign/protocol': [''],
  'countersign/speech': ['api/http/', 'flows/', 'transcription/'],
  zod: [''],
  '@fastify/busboy': ['api/http/upload.ts'],
  aws4fetch: ['messages/carriers/aws.ts'],
  commander: ['cli/'],
  countersign: ['console/'],
  express: ['console/', 'api/http/'],
  'express-session': ['console/'],
  passport: ['console/'],
  'openid-client': ['console/sign-in/oidc.ts', 'operator/identity-provider.ts'],
  jose: ['operator/identity-provider.ts'],
  'passport-local': ['console/'],
  leven: ['run/environment.ts'],
  'libphonenumber-js/max': ['messages/contacts/phone.ts'],
  nodemailer: ['messages/carriers/smtp.ts'],
  'nodemailer/lib/mime-funcs': ['messages/carriers/email.ts'],
  'nodemailer/lib/qp': ['messages/carriers/email.ts'],
  otpauth: ['accounts/authenticator-app/'],
  '@noble/ciphers/chacha.js': ['flows/import/sources.ts'],
  '@noble/ciphers/utils.js': ['flows/import/sources.ts'],
  '@noble/curves/ed25519.js': ['accounts/webauthn/public-key.ts'],
  'lossless-json': ['flows/import/exact-json.ts'],
  pg: ['store/'],
  pino: ['telemetry/log/logger.ts'],
  'prom-client': ['api/metrics/'],
  qr: ['accounts/authenticator-app/'],
  'request-filtering-agent': ['safe-fetch/public-agent.ts'],
  '@simplewebauthn/server': ['accounts/webauthn/'],
  '@simplewebauthn/server/helpers': ['accounts/webauthn/'],
  ws: ['api/http/streams/', 'transcription/live/engine-socket.ts'],
  'zod-openapi': ['api/http/openapi/'],
}

const describeImport = ({ from, to, isType }: Import) => `${from} → ${to}${isType ? ' (type)' : ''}`

function violations(isAllowed: (one: Import) => boolean): string[] {
  return sources.flatMap(({ imports }) => imports.filter((one) => !isAllowed(one)).map(describeImport))
}

/** The modules that each module imports, as the sources have it. */
function importedModules(): Record<string, Layer> {
  const found = new Map<string, Map<string, boolean>>()
  for (const { path, imports } of sources) {
    const own = moduleOf(path)
    const others = found.get(own) ?? new Map<string, boolean>()
    found.set(own, others)
    for (const { to, isPackage, isType } of imports) {
      if (isPackage || moduleOf(to) === own) continue
      others.set(moduleOf(to), isType && (others.get(moduleOf(to)) ?? true))
    }
  }
  const layers = [...found].map(([name, others]) => {
    const select = (isType: boolean) =>
      [...others.keys()].filter((other) => others.get(other) === isType).sort()
    return [name, { uses: select(false), types: select(true) }]
  })
  return Object.fromEntries(layers)
}

describe('the layering of the service', () => {
  test('is exactly the table: every module, with every module that it uses', () => {
    const table = Object.entries(LAYERS).map(([name, { uses = [], types = [] }]) => {
      return [name, { uses: [...uses].sort(), types: [...types].sort() }]
    })
    expect(importedModules()).toEqual(Object.fromEntries(table))
  })

  test('points down: each module uses only modules above it in the table', () => {
    const names = Object.keys(LAYERS)
    for (const [name, { uses = [] }] of Object.entries(LAYERS)) {
      const lower = names.slice(0, names.indexOf(name))
      expect(lower, name).toEqual(expect.arrayContaining([...uses]))
    }
  })

  test('points up by one type only', () => {
    const names = Object.keys(LAYERS)
    const up = Object.entries(LAYERS).flatMap(([name, { types = [] }]) =>
      types
        .filter((other) => names.indexOf(other) > names.indexOf(name))
        .map((other) => `${name} → ${other}`),
    )
    expect(up).toEqual(['messages → accounts'])
  })

  test('has at most eleven floors', () => {
    const compiled = sources.map(({ imports, ...source }) => ({
      ...source,
      imports: imports.filter(({ isType }) => !isType),
    }))
    const floors = floorsOf(compiled, moduleOf)
    expect(floors).toBeLessThanOrEqual(11)
    expect(floors).toBeGreaterThan(6)
  })

  test('has no import cycle between files, not even of types', () => {
    expect(cyclesIn(sources)).toEqual([])
  })

  test('imports nothing from outside service/src except for packages', () => {
    expect(violations(({ to, isPackage }) => isPackage || to.startsWith(ROOT))).toEqual([])
  })

  test('uses each package in its place only, and of the plugin only the protocols, except for the console', () => {
    const isAllowed = ({ from, to, isPackage, isType }: Import) => {
      if (!isPackage || to.startsWith('node:')) return true
      const places = PACKAGES[to]
      return !!places && (isType || places.some((place) => from.startsWith(ROOT + place)))
    }
    expect(violations(isAllowed)).toEqual([])
  })

  test('opens network connections in these files only', () => {
    const network = /\bfetch\(|\bWebSocket\(|node:(?:https?|tls|dgram|http2)['"]/
    const files = sources.filter(({ code }) => network.test(code)).map(({ path }) => path.slice(ROOT.length))
    expect(files).toEqual([
      'api/http/body-limit.ts',
      'api/http/headers.ts',
      'api/http/server.ts',
      'api/http/streams/accept-stream.ts',
      'messages/carriers/http-request.ts',
      'messages/carriers/smtp.ts',
      'run/serve.ts',
      'run/service.ts',
      'safe-fetch/public-agent.ts',
      'transcription/engines/engine-server.ts',
      'transcription/live/engine-socket.ts',
      'transcription/sources/from-address.ts',
    ])
  })

  test('has one index.ts, the public API, and no re-export of a whole module', () => {
    expect(sources.filter(({ path }) => path.endsWith('/index.ts')).map(({ path }) => path)).toEqual([
      'service/src/index.ts',
    ])
    expect(sources.filter(({ code }) => /export \*/.test(code)).map(({ path }) => path)).toEqual([])
  })
})
