import {
  ALL_COUNTRIES,
  type ApplicationSettings,
  SETTING_NAMES,
  settingRule,
  settingsSchema,
} from '../applications/settings.js'
import { writtenValue } from '../written-value.js'
import { OperatorError } from './operator-error.js'

/**
 * Parses settings as an operator writes them: `tier=enterprise`, `countries=GB,DE`, `lockDuration=1h`. Throws an
 * `OperatorError` that lists everything that is wrong with them.
 */
export function parseSettings(written: readonly string[]): ApplicationSettings {
  const faults: string[] = []
  const entries = written.flatMap((pair) => {
    const [, name = '', value = ''] = /^([A-Za-z0-9]+)=(.*)$/s.exec(pair) ?? []
    const rule = settingRule(name)
    if (rule) return [[name, parseValue(name, rule, value)]]
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

/** Two settings have short forms. */
function parseValue(name: string, rule: NonNullable<ReturnType<typeof settingRule>>, text: string): unknown {
  if (name === 'countries' && text === ALL_COUNTRIES) return []
  if (name === 'whatsappTemplate' && !text.includes(':')) return { '*': text }
  return writtenValue(rule, text)
}
