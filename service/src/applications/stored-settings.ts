import { type ApplicationSettings, settingsSchema } from './settings.js'

const inSeconds = (value: unknown) => (typeof value === 'number' ? `${value}s` : value)
const unchanged = (value: unknown) => value

/** The names that settings had in earlier releases, and how their values are converted. */
const FORMER_NAMES: Readonly<
  Record<string, readonly [keyof ApplicationSettings, (value: unknown) => unknown]>
> = {
  codeLifeSeconds: ['codeLifetime', inSeconds],
  emailCodeLifeSeconds: ['emailCodeLifetime', inSeconds],
  maxTries: ['attemptsPerChallenge', unchanged],
  lockAfter: ['failuresBeforeLock', unchanged],
  lockSeconds: ['lockDuration', inSeconds],
  disableAfter: ['failuresBeforeDisable', unchanged],
  resendSeconds: ['resendDelay', inSeconds],
  sendsPer10Minutes: ['sendsPerTenMinutes', unchanged],
}

/** The current name of a setting that was renamed; `undefined` for every other name. */
export function renamedSetting(name: string): keyof ApplicationSettings | undefined {
  return Object.hasOwn(FORMER_NAMES, name) ? FORMER_NAMES[name]?.[0] : undefined
}

/** Reads settings as the database stores them, under their current or former names. */
export function parseStoredSettings(json: string): ApplicationSettings {
  const stored = Object.entries(JSON.parse(json) as Readonly<Record<string, unknown>>)
  const current = stored.filter(([name]) => renamedSetting(name) === undefined)
  const renamed = stored.flatMap(([name, value]) => {
    const [newName, convert] = (renamedSetting(name) && FORMER_NAMES[name]) ?? []
    return newName && convert ? [[newName, convert(value)]] : []
  })
  return settingsSchema.parse({ ...Object.fromEntries(renamed), ...Object.fromEntries(current) })
}
