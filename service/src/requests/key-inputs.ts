import type { KEY_VERBS } from 'countersign/protocol'
import type { VerbInput } from './inputs.js'

/** The input of `prepareKeyRegistration`. */
export type KeyRegistrationOptionsInput = VerbInput<typeof KEY_VERBS.registrationOptions>

/** The input of `registerKey`. */
export type RegisterKeyInput = VerbInput<typeof KEY_VERBS.register>

/** The input of `prepareKeyAuthentication`. */
export type KeyAuthenticationOptionsInput = VerbInput<typeof KEY_VERBS.authenticationOptions>

/** The input of `authenticateKey`. */
export type AuthenticateKeyInput = VerbInput<typeof KEY_VERBS.authenticate>
