import { fileURLToPath } from 'node:url'
import type { Plugin } from 'vitest/config'
import type { Kind, Sink } from './canaries.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** A part of a source, and what it becomes while canaries are watched. `watch.ts` sets the global that it then calls. */
interface Probe {
  readonly file: string
  readonly part: string
  readonly probed: (part: string) => string
}

const made = (kind: Kind) => (part: string) => `globalThis.canaries.note('${kind}', ${part})`
const shown = (sink: Sink, value: string) => (part: string) =>
  `(globalThis.canaries.search('${sink}', ${value}), ${part})`

/** Where secrets are made, or enter. */
const SECRETS: readonly Probe[] = [
  {
    file: 'service/src/store/secrets/codes.ts',
    part: "String(number % values).padStart(of.digits, '0')",
    probed: made('delivered code'),
  },
  {
    file: 'service/src/store/secrets/codes.ts',
    part: "Array.from(randomBytes(length), (byte) => CROCKFORD[byte & 31]).join('')",
    probed: made('backup code'),
  },
  {
    file: 'service/src/accounts/authenticator-app/totp.ts',
    part: 'toBase32(randomBytes(SECRET_BYTES))',
    probed: made('authenticator secret'),
  },
  {
    file: 'service/src/accounts/applications/api-key.ts',
    part: 'start + checksum(start)',
    probed: made('API key'),
  },
  {
    file: 'service/src/operator/application-webhooks.ts',
    part: "`mfa_webhook_${randomBytes(SECRET_BYTES).toString('base64url')}`",
    probed: made('webhook secret'),
  },
  {
    file: 'service/src/operator/operator-invitations.ts',
    part: "randomBytes(32).toString('base64url')",
    probed: made('token'),
  },
  {
    file: 'src/testing/service.ts',
    part: "String(randomInt(1_000_000)).padStart(6, '0')",
    probed: made('delivered code'),
  },
  {
    file: 'src/testing/service.ts',
    part: 'base32Encode(randomBytes(20))',
    probed: made('authenticator secret'),
  },
  {
    file: 'src/testing/service.ts',
    part: "Array.from({ length: 16 }, () => CROCKFORD[randomInt(CROCKFORD.length)]).join('')",
    probed: made('backup code'),
  },
  {
    file: 'src/stores/trust/devices.ts',
    part: "randomBytes(32).toString('base64url')",
    probed: made('token'),
  },
  {
    file: 'src/stores/trust/resets.ts',
    part: "letters.join('').replace(/.{4}(?=.)/g, '$&-')",
    probed: made('bypass code'),
  },
  {
    file: 'src/options/service.ts',
    part: 'apiKey: () => apiKey',
    probed: (part) => `...(globalThis.canaries.note('API key', apiKey), {}), ${part}`,
  },
  {
    file: 'src/protocol/contact.ts',
    part: "if (contact.kind === 'email') return contact.email\n",
    probed: (part) => `globalThis.canaries.noteContact(contact)\n  ${part}`,
  },
]

/** Where both programs, and the tests of parts of them, pass on what others read. */
const SINKS: readonly Probe[] = [
  { file: 'src/options/logger.ts', part: 'logger.info?.(message)', probed: shown('log', 'message') },
  { file: 'src/options/logger.ts', part: 'logger.warn(message)', probed: shown('log', 'message') },
  { file: 'src/options/logger.ts', part: 'logger.error(...args)', probed: shown('log', 'args') },
  // The host chooses the ids of its users: those of the console are the email addresses of operators.
  {
    file: 'src/flows/metrics.ts',
    part: 'onEvent?.(dated)',
    probed: shown('event', '{ ...dated, userId: undefined }'),
  },
  { file: 'src/errors.ts', part: 'new.target.name', probed: shown('error', 'message') },
  {
    file: 'service/src/process/configuration-error.ts',
    part: "'ConfigurationError'",
    probed: shown('error', 'faults'),
  },
  {
    file: 'service/src/operator/audited-change.ts',
    part: "'OperatorError'",
    probed: shown('error', 'faults'),
  },
  {
    file: 'service/src/run/service.ts',
    part: 'settings.logger ?? warningsOnly()',
    probed: (part) => `globalThis.canaries.searchedLogger(${part})`,
  },
  { file: 'service/test/kit.ts', part: 'events.push(event)', probed: shown('log', 'event') },
]

/** Puts the probes into the sources. */
export function probes(): Plugin {
  return {
    name: 'probes',
    enforce: 'pre',
    transform(code, id) {
      const found = [...SECRETS, ...SINKS].filter(({ file }) => id === `${ROOT}${file}`)
      return found.length === 0 ? undefined : { code: found.reduce(withProbe, code), map: null }
    },
  }
}

function withProbe(source: string, { file, part, probed }: Probe): string {
  const parts = source.split(part)
  if (parts.length !== 2) throw new Error(`${file} does not have "${part}" once, where a probe belongs.`)
  return parts.join(probed(part))
}
