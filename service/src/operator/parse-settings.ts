import { ALL_COUNTRIES, type ApplicationSettings, settingsSchema } from '../applications/settings.js'
import { OperatorError } from './operator-error.js'

const LISTS = new Set([
  ...['methods', 'countries', 'notices'],
  ...['relyingPartyOrigins', 'relatedOrigins', 'topOrigins', 'keyAlgorithms', 'keyAuthenticators'],
])
const SWITCHES = new Set(['keyDeviceBoundOnly'])
const AMOUNTS = new Set(['spendPerDay', 'spendPerMonth'])
const TEXTS = new Set([
  ...['name', 'origin', 'locale', 'tier'],
  ...['emailFrom', 'emailReplyTo', 'smsFrom', 'messagingService', 'whatsappFrom', 'callFrom'],
  ...['relyingPartyId', 'relyingPartyName', 'keyUserVerification', 'keyAttestation', 'keyCounter'],
])

/** The names of all settings. */
export const SETTING_NAMES = Object.keys(settingsSchema.shape)

/**
 * Parses settings as an operator writes them: `tier=enterprise`, `countries=GB,DE`, `lockDuration=1h`. Throws an
 * `OperatorError` that lists everything that is wrong with them.
 */
export function parseSettings(written: readonly string[]): ApplicationSettings {
  const faults: string[] = []
  const entries = written.flatMap((pair) => {
    const [, name = '', value = ''] = /^([A-Za-z0-9]+)=(.*)$/s.exec(pair) ?? []
    if (SETTING_NAMES.includes(name)) return [[name, parseValue(name, value)]]
    faults.push(
      name
        ? unknownSetting(name)
        : `"${pair}" is not a setting: write name=value, for example attemptsPerChallenge=3.`,
    )
    return []
  })
  const parsed = settingsSchema.safeParse(Object.fromEntries(entries))
  if (!parsed.success) faults.push(...parsed.error.issues.map((issue) => `${issue.message}.`))
  if (faults.length > 0 || !parsed.success) throw new OperatorError(...new Set(faults))
  return parsed.data
}

/** Checks that these are names of settings. Throws an `OperatorError` that lists those that are not. */
export function checkSettingNames(names: readonly string[]): readonly string[] {
  const faults = names.filter((name) => !SETTING_NAMES.includes(name)).map(unknownSetting)
  if (faults.length > 0) throw new OperatorError(...faults)
  return names
}

function unknownSetting(name: string): string {
  return `The setting "${name}" does not exist: use one of ${SETTING_NAMES.join(', ')}.`
}

/** Text that is not JSON stays text, which the rule of the setting refuses. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function parseValue(name: string, text: string): unknown {
  if (TEXTS.has(name)) return text
  if (name === 'texts' || name === 'keyMetadata') return parseJson(text)
  if (name === 'countries' && text === ALL_COUNTRIES) return []
  if (name === 'prices') return Object.fromEntries(text.split(',').map(parsePrice))
  if (name === 'whatsappTemplate' && !text.includes(':')) return { '*': text }
  if (name === 'whatsappTemplate' || name === 'whatsappVariables') return parsePairs(text)
  if (SWITCHES.has(name)) return text === 'true' || (text === 'false' ? false : text)
  if (AMOUNTS.has(name)) return /^\d{1,9}(\.\d{1,6})?$/.test(text) ? Number(text) : text
  if (LISTS.has(name)) return text === '' ? [] : text.split(',').map((part) => part.trim())
  return /^\d{1,9}$/.test(text) ? Number(text) : text
}

/** `1:{code},2:{minutes}`. A text without a colon is left for the rule of the setting to refuse. */
function parsePairs(text: string): unknown {
  const pairs = text.split(',').map((pair) => /^([^:]*):(.*)$/s.exec(pair)?.slice(1) ?? [])
  if (pairs.some(({ length }) => length === 0)) return text
  return Object.fromEntries(pairs.map(([name = '', value = '']) => [name.trim(), value.trim()]))
}

function parsePrice(text: string): [string, unknown] {
  const [country = '', price = ''] = text.split(':').map((part) => part.trim())
  return [country, /^\d{1,4}(\.\d{1,6})?$/.test(price) ? Number(price) : price]
}
