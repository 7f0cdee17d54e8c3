import type { RelyingPartySettings } from '../application.js'
import { DEFAULT_APPLICATION } from '../applications/directory.js'
import {
  faultsInPolicy,
  type RelyingPartyOption,
  relyingPartyOf,
  unfitOrigins,
} from '../applications/key-settings.js'
import { applicationDefaults, applicationFrom, parseStoredSettings } from '../applications/settings.js'
import type { Store } from '../store/store.js'
import type { Diagnostic } from './diagnostic.js'

/** Checks the relying parties of all applications; nothing is reported if none has one. */
export async function diagnoseRelyingParties(
  store: Store,
  service: { readonly production: boolean; readonly relyingParty?: RelyingPartyOption | undefined },
): Promise<Diagnostic[]> {
  const subject = 'security keys'
  const rows = await store.query<{ application: string; settings: string }>(
    `SELECT application, settings FROM application
     WHERE application = $1 OR settings::jsonb ? 'relyingPartyId' ORDER BY application`,
    [DEFAULT_APPLICATION],
  )
  const applications = rows.flatMap(({ application, settings }) => {
    const isDefault = application === DEFAULT_APPLICATION
    const defaults = applicationDefaults(application)
    const own = relyingPartyOf(service.relyingParty, application)
    const base = isDefault ? { ...defaults, relyingParty: own } : defaults
    const found = applicationFrom(application, 'live', base, parseStoredSettings(settings))
    const { relyingParty, keyPolicy, origin } = found
    return relyingParty ? [{ name: application, relyingParty, keyPolicy, host: origin }] : []
  })
  const faults = applications.flatMap(({ name, relyingParty, keyPolicy, host }) =>
    [
      ...faultsInRelyingParty(relyingParty, host, service.production),
      ...faultsInPolicy(keyPolicy).map((message): Fault => ({ severity: 'error', message })),
    ].map(({ severity, message }): Diagnostic => ({ severity, subject, message: `"${name}": ${message}` })),
  )
  if (applications.length === 0 || faults.length > 0) return faults
  const ids = applications.map(({ name, relyingParty }) => `${relyingParty.id} for "${name}"`)
  return [{ severity: 'ok', subject, message: `The relying parties fit their origins: ${ids.join(', ')}.` }]
}

interface Fault {
  readonly severity: 'warning' | 'error'
  readonly message: string
}

function faultsInRelyingParty(
  relyingParty: RelyingPartySettings,
  host: string | undefined,
  production: boolean,
): Fault[] {
  const { id, origins } = relyingParty
  const unfit = unfitOrigins(relyingParty)
  const pages = host === undefined ? [] : unfitOrigins({ id, origins: [`https://${host}`] })
  const local = production ? origins.filter((origin) => origin.startsWith('http://')) : []
  return [
    ...unfit.map(
      (origin): Fault => ({
        severity: 'error',
        message: `browsers refuse keys of ${id} at ${origin}: use an origin of ${id} or of a host below it, or add it to relatedOrigins.`,
      }),
    ),
    ...pages.map(
      (): Fault => ({
        severity: 'warning',
        message: `the pages at ${host} cannot use keys of the relying party ${id}: its id must be their domain or one above it.`,
      }),
    ),
    ...local.map(
      (origin): Fault => ({
        severity: 'warning',
        message: `${origin} is an origin for development: remove it in production.`,
      }),
    ),
  ]
}
