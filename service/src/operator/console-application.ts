import { KEY_METHODS } from 'countersign/protocol'
import type { Application } from '../application.js'
import { relyingPartyOf, relyingPartyOption } from '../applications/key-settings.js'
import { applicationDefaults, applicationFrom } from '../applications/settings.js'
import { CONSOLE_APPLICATION } from './operator-account.js'

/** The name of the console, on its pages and in authenticators. */
export const CONSOLE_NAME = 'Countersign console'

/**
 * The application of the operators. It has no row and no API keys, so nothing but the console can reach its accounts. Operators
 * can use security keys and passkeys if `url`, the public address of the console, is one whose pages may use them: https at a
 * domain, or http at localhost.
 */
export function consoleApplication(url: string | undefined): Application {
  const { hostname: id, origin } = new URL(url ?? 'https://0.0.0.0')
  const relyingParty = relyingPartyOption.safeParse({ id, origins: [origin] })
  const defaults = {
    ...applicationDefaults(CONSOLE_APPLICATION),
    name: CONSOLE_NAME,
    methods: KEY_METHODS,
    relyingParty: relyingPartyOf(relyingParty.data, CONSOLE_NAME),
  }
  return applicationFrom(CONSOLE_APPLICATION, 'live', defaults, {})
}
