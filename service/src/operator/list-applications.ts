import {
  ALL_COUNTRIES,
  type ApplicationSettings,
  parseStoredSettings,
  SETTING_NAMES,
  settingRule,
  settingsSchema,
} from '../accounts/applications/settings.js'
import { parseWritten } from '../process/configuration-error.js'
import { effectiveApplication } from './applications.js'
import { type Actor, OperatorError } from './audited-change.js'

/** An application in a list. */
export interface ApplicationSummary {
  /** Its name in commands and rows. */
  readonly application: string
  /** Its name in messages and authenticator apps. */
  readonly name: string
  /** `standard` or `enterprise`. */
  readonly tier: string
  /** The number of live keys that are neither revoked nor expired, without the key of the options. */
  readonly liveKeys: number
  /** The number of test keys that are neither revoked nor expired. */
  readonly testKeys: number
  /** When it was created, in milliseconds since 1970. */
  readonly createdAt: number
}

/** Which applications are listed. */
export interface ApplicationFilter {
  /** Only applications with this text in their name in commands or in messages, in upper or lower case. Defaults to all. */
  readonly search?: string | undefined
  /** The `next` of the page before. Defaults to the first page. */
  readonly after?: string | undefined
  /** The maximum number of applications on the page. */
  readonly limit: number
}

/** A page of applications, by name. */
export interface ApplicationPage {
  /** The applications of the page. */
  readonly applications: readonly ApplicationSummary[]
  /** Where the next page begins; absent on the last one. */
  readonly next?: string | undefined
}

const ALL_AT_ONCE = 1_000

/** Searches applications by their names, page by page. */
export async function searchApplications(actor: Actor, filter: ApplicationFilter): Promise<ApplicationPage> {
  const { search = '', after = '', limit } = filter
  const rows = await actor.store.query<
    Omit<ApplicationSummary, 'name' | 'tier'> & { readonly settings: string }
  >(
    `SELECT application, settings, created_at AS "createdAt", "liveKeys", "testKeys" FROM (
       SELECT application, settings, created_at FROM application
       WHERE application > $1 AND ($2 = '' OR position($2 IN application) > 0
         OR position($2 IN lower(settings::jsonb ->> 'name')) > 0)
       ORDER BY application LIMIT $3
     ) AS found, LATERAL (
       SELECT count(*) FILTER (WHERE mode = 'live')::integer AS "liveKeys",
         count(*) FILTER (WHERE mode = 'test')::integer AS "testKeys"
       FROM api_key WHERE api_key.application = found.application AND revoked_at IS NULL
         AND (expires_at IS NULL OR expires_at > $4)
     ) AS keys ORDER BY application`,
    [after, search.toLowerCase(), limit + 1, Date.now()],
  )
  const applications = rows.slice(0, limit).map(({ settings, ...row }) => {
    const { name, tier } = effectiveApplication(actor, row.application, parseStoredSettings(settings))
    return { ...row, name, tier }
  })
  const last = applications.at(-1)
  return { applications, ...(rows.length > limit && last && { next: last.application }) }
}

/** Lists all applications. */
export async function listApplications(actor: Actor): Promise<ApplicationSummary[]> {
  const all: ApplicationSummary[] = []
  let after: string | undefined
  do {
    const page = await searchApplications(actor, { after, limit: ALL_AT_ONCE })
    all.push(...page.applications)
    after = page.next
  } while (after !== undefined)
  return all
}

/** Parses settings as an operator writes them: `countries=GB,DE`, `lockDuration=1h`. Throws an `OperatorError` that lists all faults. */
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
  return parseWritten(rule, text)
}
