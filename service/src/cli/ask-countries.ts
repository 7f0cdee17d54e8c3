import type { ApplicationSettings } from '../applications/settings.js'
import { OperatorError } from '../operator/operator-error.js'
import { parseSettings } from '../operator/parse-settings.js'
import type { Io } from './io.js'

/**
 * The settings of a new application with the countries that it serves, which nobody should leave open by accident: as
 * given, else as answered at the terminal, else SERVICE_HOME_COUNTRY. Throws an `OperatorError` when there is none of these.
 */
export async function withCountries(io: Io, settings: ApplicationSettings): Promise<ApplicationSettings> {
  if (settings.countries !== undefined) return settings
  const home = io.env.SERVICE_HOME_COUNTRY
  if (!io.ask) {
    if (home) return { ...settings, ...parseSettings([`countries=${home}`]) }
    throw new OperatorError(
      'Say which countries have phone numbers that the application sends to: add countries=GB,DE, or countries=all, ' +
        'or set SERVICE_HOME_COUNTRY.',
    )
  }
  const proposed = home || regionOf(io.env)
  const answer = await io.ask(
    `Countries whose phone numbers are served, as ISO codes such as GB,DE, or all${proposed ? ` [${proposed}]` : ''}: `,
  )
  const countries = answer.trim() || proposed
  if (!countries) throw new OperatorError('An application needs its countries: answer GB,DE or all.')
  return { ...settings, ...parseSettings([`countries=${countries}`]) }
}

/** The country of the operator's language setting, such as GB of en_GB.UTF-8. */
function regionOf({ LC_ALL, LANG }: Io['env']): string | undefined {
  return /^[a-z]{2,3}_([A-Z]{2})\b/.exec(LC_ALL || LANG || '')?.[1]
}
