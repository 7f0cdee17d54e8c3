import type { Queries } from '../store/store.js'
import { DEFAULT_APPLICATION } from './directory.js'
import { parseStoredSettings } from './settings.js'

/**
 * The names of the applications that serve the phone numbers of every country because nothing says otherwise (R103): those
 * without the setting `countries`, and `default` without a `homeCountry`.
 */
export async function unrestrictedApplications(
  queries: Queries,
  homeCountry: string | undefined,
): Promise<string[]> {
  const rows = await queries.query<{ application: string; settings: string }>(
    `SELECT application, settings FROM application WHERE settings::jsonb -> 'countries' IS NULL ORDER BY application`,
  )
  return rows
    .filter(({ settings }) => parseStoredSettings(settings).countries === undefined)
    .map(({ application }) => application)
    .filter((name) => !(name === DEFAULT_APPLICATION && homeCountry !== undefined))
}

/** What the operator should do about unrestricted applications. */
export function unrestrictedAdvice(names: readonly string[]): string {
  const listed = names.map((name) => `"${name}"`).join(', ')
  return (
    `No countries are set for ${listed}: codes go to phone numbers of every country, which SMS pumping abuses. ` +
    `Name the countries of your users with app settings ${names[0]} countries=GB,DE${
      names.includes(DEFAULT_APPLICATION) ? ', for "default" also with SERVICE_HOME_COUNTRY' : ''
    }, or accept the risk with countries=all.`
  )
}
