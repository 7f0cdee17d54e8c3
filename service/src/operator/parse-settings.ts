import { type ApplicationSettings, settingsSchema } from '../applications/settings.js'
import { OperatorError } from './operator-error.js'

const LISTS = new Set(['methods', 'countries', 'notices'])
const TEXTS = new Set(['name', 'origin', 'locale', 'tier'])

/** The names of all settings. */
export const SETTING_NAMES = Object.keys(settingsSchema.shape)

/**
 * Reads settings as an operator writes them: `tier=enterprise`, `countries=GB,DE`, `maxTries=3`. Throws an
 * `OperatorError` that tells everything that is wrong with them.
 */
export function readSettings(written: readonly string[]): ApplicationSettings {
  const faults: string[] = []
  const entries = written.flatMap((pair) => {
    const [, name = '', value = ''] = /^([A-Za-z0-9]+)=(.*)$/s.exec(pair) ?? []
    if (SETTING_NAMES.includes(name)) return [[name, valueIn(name, value)]]
    faults.push(name ? unknown(name) : `"${pair}" is no setting: write name=value, such as maxTries=3.`)
    return []
  })
  const parsed = settingsSchema.safeParse(Object.fromEntries(entries))
  if (!parsed.success) faults.push(...parsed.error.issues.map((issue) => `${issue.message}.`))
  if (faults.length > 0 || !parsed.success) throw new OperatorError(...new Set(faults))
  return parsed.data
}

/** Checks that these are names of settings. */
export function readSettingNames(names: readonly string[]): readonly string[] {
  const faults = names.filter((name) => !SETTING_NAMES.includes(name)).map(unknown)
  if (faults.length > 0) throw new OperatorError(...faults)
  return names
}

function unknown(name: string): string {
  return `There is no setting "${name}": take one of ${SETTING_NAMES.join(', ')}.`
}

function valueIn(name: string, text: string): unknown {
  if (TEXTS.has(name)) return text
  if (LISTS.has(name)) return text === '' ? [] : text.split(',').map((part) => part.trim())
  return /^\d{1,9}$/.test(text) ? Number(text) : text
}
