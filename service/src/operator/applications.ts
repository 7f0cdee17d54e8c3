import { countLockedOut, type LockedOut } from '../accounts/account-factors.js'
import type { Application } from '../accounts/application.js'
import { DEFAULT_APPLICATION } from '../accounts/applications/directory.js'
import { findPolicyFaults, keySettingsFrom } from '../accounts/applications/key-settings.js'
import { KEPT_METHODS, usableMethods } from '../accounts/applications/offered-methods.js'
import { readSenders } from '../accounts/applications/sender-settings.js'
import {
  ALL_COUNTRIES,
  type ApplicationDefaults,
  type ApplicationSettings,
  applicationDefaults,
  completeApplication,
  isApplicationName,
  parseStoredSettings,
  settingsSchema,
} from '../accounts/applications/settings.js'
import { LIMIT_NAMES, limitValue } from '../accounts/limits.js'
import type { Queries } from '../store/store.js'
import { type Actor, changeWithAudit, OperatorError } from './audited-change.js'
import { describeLockedOut } from './locked-out-users.js'

/** A setting of an application. */
export interface Setting {
  /** As commands and `ApplicationSettings` spell it. */
  readonly name: string
  /** As an operator writes it, lists with commas. */
  readonly value: string
  /** `default` if it is not set. For the application `default`, the options of the service then apply. */
  readonly from: 'set' | 'default'
  /** Whether the value is that of the default, even if it is set. */
  readonly isUsual: boolean
}

/** Creates an application with its first settings. */
export async function createApplication(
  actor: Actor,
  application: string,
  given: ApplicationSettings = {},
): Promise<void> {
  const { homeCountry } = actor
  const settings = checkSettings({ ...(homeCountry !== undefined && { countries: [homeCountry] }), ...given })
  if (!isApplicationName(application)) {
    throw new OperatorError(
      `"${application}" cannot be the name of an application: use 1 to 40 lowercase letters, digits and dashes.`,
    )
  }
  refuseCeilingsWithoutPrices(settings)
  await changeWithAudit(actor, async (tx, record) => {
    const [row] = await tx.query(
      `INSERT INTO application (application, created_at, settings) VALUES ($1, $2, $3)
       ON CONFLICT DO NOTHING RETURNING application`,
      [application, Date.now(), JSON.stringify(settings)],
    )
    if (!row) throw new OperatorError(`The application "${application}" already exists: choose another name.`)
    record({ application, action: 'application.created', detail: formatSettings(settings) })
  })
}

/** Lists the settings of an application. */
export async function showSettings(actor: Actor, application: string): Promise<Setting[]> {
  return describeSettings(actor, application, await findStoredSettings(actor.store, application))
}

function describeSettings(actor: Actor, application: string, set: ApplicationSettings): Setting[] {
  const usual = settingValues(actor, application, {})
  const values = settingValues(actor, application, set)
  return Object.keys(settingsSchema.shape).map((name) => {
    const value = formatValue(name, values[name])
    const from = set[name as keyof ApplicationSettings] === undefined ? 'default' : 'set'
    return { name, value, from, isUsual: value === formatValue(name, usual[name]) }
  })
}

function settingValues(
  actor: Actor,
  application: string,
  set: ApplicationSettings,
): Readonly<Record<string, unknown>> {
  const { spending, relyingParty, keyPolicy, limits, ...effective } = effectiveApplication(
    actor,
    application,
    set,
  )
  const { prices, perDay: spendPerDay, perMonth: spendPerMonth } = spending
  return {
    ...effective,
    ...Object.fromEntries(LIMIT_NAMES.map((name) => [name, set[name] ?? limitValue(limits, name)])),
    ...readSenders(set),
    ...keySettingsFrom(relyingParty, keyPolicy),
    prices,
    spendPerDay,
    spendPerMonth,
  }
}

/** Settings to set and to unset; all others stay as they are. */
export interface SettingsChange {
  /** New values, by name. */
  readonly set: ApplicationSettings
  /** Names of settings that return to their default. */
  readonly unset: readonly string[]
  /** The values that the operator saw, by name: if one of them has changed since, nothing is changed. Defaults to none. */
  readonly seen: ReadonlyMap<string, string>
  /** Whether the change may withhold the only factors of users. Defaults to `false`: then it is refused, with their number. */
  readonly lockOut: boolean
}

/** Changes settings of an application, all or none. */
export async function changeSettings(
  actor: Actor,
  application: string,
  { set = {}, unset = [], seen = new Map(), lockOut = false }: Partial<SettingsChange>,
): Promise<void> {
  const detail = [formatSettings(set), ...unset.map((name) => `${name} unset`)].filter(Boolean).join(' ')
  await changeWithAudit(actor, async (tx, record) => {
    const before = await findStoredSettings(tx, application, 'FOR UPDATE')
    refuseConflicts(describeSettings(actor, application, before), seen)
    const after = applyChange(before, { set, unset })
    refuseCeilingsWithoutPrices(after)
    const faults = findPolicyFaults(effectiveApplication(actor, application, after).keyPolicy)
    if (faults.length > 0) throw new OperatorError(...faults)
    if (!lockOut) refuseLockOut(application, await countNewlyLockedOut(tx, actor, application, before, after))
    const values = [application, JSON.stringify(after)]
    await tx.query('UPDATE application SET settings = $2 WHERE application = $1', values)
    record({ application, action: 'application.changed', detail })
  })
}

function applyChange(before: ApplicationSettings, { set, unset }: Pick<SettingsChange, 'set' | 'unset'>) {
  const kept = Object.entries(before).filter(([name]) => !unset.includes(name))
  return { ...Object.fromEntries(kept), ...checkSettings(set) }
}

/** Counts the users, by method, whose logins a change of settings would leave pending. */
export async function countUsersLockedOutBy(
  actor: Actor,
  application: string,
  { set = {}, unset = [] }: Partial<Pick<SettingsChange, 'set' | 'unset'>>,
): Promise<readonly LockedOut[]> {
  const before = await findStoredSettings(actor.store, application)
  return countNewlyLockedOut(actor.store, actor, application, before, applyChange(before, { set, unset }))
}

async function countNewlyLockedOut(
  queries: Queries,
  actor: Actor,
  application: string,
  before: ApplicationSettings,
  after: ApplicationSettings,
): Promise<readonly LockedOut[]> {
  const usable = (set: ApplicationSettings) => usableFactors(actor, application, set)
  const was = usable(before)
  const willBe = usable(after)
  // Keys belong to one relying party: under another id, none of them works.
  const isSame = was.relyingPartyId === willBe.relyingPartyId
  const left = willBe.methods.filter((method) => method === 'app' || isSame)
  const lost = was.methods.filter((method) => !left.includes(method))
  const withheld = KEPT_METHODS.filter((method) => !left.includes(method))
  return countLockedOut(queries, { id: application }, withheld, lost)
}

/** The methods of factors that can be used with these settings, and whose the keys are. */
function usableFactors(actor: Actor, application: string, set: ApplicationSettings) {
  const found = effectiveApplication(actor, application, set)
  // A process that does not know takes it that the service has one, so that no lock-out is missed.
  const isUnknown = application === DEFAULT_APPLICATION && !actor.defaults
  const relyingPartyId = found.relyingParty?.id ?? (isUnknown ? '' : undefined)
  const hasKeys = relyingPartyId !== undefined
  return { methods: usableMethods(found.methods, hasKeys), relyingPartyId }
}

function refuseLockOut(application: string, lockedOut: readonly LockedOut[]): void {
  if (lockedOut.length === 0) return
  throw new OperatorError(
    `This would lock users of "${application}" out: ${describeLockedOut(lockedOut)}, as far as the service knows. Their logins would stay pending, and nothing was changed. Confirm it if you mean it: with --lock-out, or with lockOut in code.`,
  )
}

/** Another operator may have changed a setting since it was shown. */
function refuseConflicts(current: readonly Setting[], seen: ReadonlyMap<string, string>): void {
  const conflicts = current.filter(({ name, value }) => (seen.get(name) ?? value) !== value)
  if (conflicts.length === 0) return
  throw new OperatorError(
    ...conflicts.map(
      ({ name, value }) =>
        `Another operator has changed ${name} in the meantime: it is "${value}" now. Nothing was saved; check it and save again.`,
    ),
  )
}

/** Throws an `OperatorError` when the application does not exist. */
export async function mustExist(queries: Queries, application: string): Promise<void> {
  await findStoredSettings(queries, application)
}

/** The settings of an application. Throws an `OperatorError` when it does not exist. */
export async function findStoredSettings(
  queries: Queries,
  application: string,
  lock: 'FOR UPDATE' | '' = '',
): Promise<ApplicationSettings> {
  const [row] = await queries.query<{ settings: string }>(
    `SELECT settings FROM application WHERE application = $1 ${lock}`,
    [application],
  )
  if (row) return parseStoredSettings(row.settings)
  throw new OperatorError(
    `The application "${application}" does not exist: list the applications, or create it first.`,
  )
}

/** Settings that did not come from the command line are not checked yet. */
function checkSettings(settings: unknown): ApplicationSettings {
  const parsed = settingsSchema.safeParse(settings)
  if (parsed.success) return parsed.data
  throw new OperatorError(...new Set(parsed.error.issues.map(({ message }) => `${message}.`)))
}

/** An application with everything that is set for it, and the defaults for the rest. */
export function effectiveApplication(
  { defaults }: Pick<Actor, 'defaults'>,
  application: string,
  set: ApplicationSettings,
): Application {
  const usual = applicationDefaults(application)
  const ofDefault: ApplicationDefaults = defaults ?? { ...usual, tier: 'enterprise' }
  const own = application === DEFAULT_APPLICATION ? ofDefault : usual
  return completeApplication(application, own, set)
}

// Written as JSON.
const LONG = new Set(['texts', 'keyMetadata'])

function formatSettings(settings: ApplicationSettings): string {
  return Object.entries(settings)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) =>
      // Whole texts are too long for the audit log.
      LONG.has(name)
        ? `${name}=${Array.isArray(value) ? value.length : Object.keys(Object(value)).join(',')}`
        : `${name}=${formatValue(name, value)}`,
    )
    .join(' ')
}

function refuseCeilingsWithoutPrices({ prices = {}, spendPerDay, spendPerMonth }: ApplicationSettings): void {
  if ((spendPerDay ?? spendPerMonth) === undefined || Object.keys(prices).length > 0) return
  throw new OperatorError('spendPerDay and spendPerMonth need prices, such as prices=GB:0.04,*:0.20.')
}

/** A value as an operator writes it. */
function formatValue(name: string, value: unknown): string {
  if (name === 'countries' && Array.isArray(value) && value.length === 0) return ALL_COUNTRIES
  if (LONG.has(name)) return Object.keys(Object(value)).length === 0 ? '' : JSON.stringify(value)
  if (!Array.isArray(value) && typeof value === 'object' && value !== null) {
    return Object.entries(value)
      .map((entry) => entry.join(':'))
      .join(',')
  }
  return Array.isArray(value) ? value.join(',') : String(value ?? '')
}
