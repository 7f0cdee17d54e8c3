import { nothing } from '../no-op.js'
import type { Contact } from '../protocol/contact.js'
import type { RecordedFactors } from '../protocol/factor.js'
import { isKeyMethod, KEY_METHODS, type KeyMethod } from '../protocol/methods.js'
import type { AnswerOf, MfaService } from '../protocol/service.js'

/** The factors of a user that the service keeps. */
export interface Enrolled {
  /** Whether the user has an authenticator app that can be used. */
  readonly app: boolean
  /** How many digits the codes of the app have, if the service says so. */
  readonly appDigits?: number | undefined
  /** The kinds of keys that the user has and can use. Absent if the application offers no keys. */
  readonly keys?: readonly KeyMethod[]
  /** The methods of factors that the user has and cannot use now (R132). */
  readonly withheld: readonly AnswerOf<'factorsOf'>['existing'][number]['method'][]
  /** Whether the app should be set up again, because its imported secret is short. */
  readonly weakApp?: boolean
  /** The factors that the host's record should list, usable or not; only backup codes that are valid for the contact. */
  readonly recorded: RecordedFactors
}

/** Which users have an authenticator app or keys, as the service knows. */
export interface EnrolledFactors {
  /** Whether the service can tell. */
  readonly canTell: boolean
  /** Whether it may keep keys, also those that cannot be used here. */
  readonly mayHaveKeys: boolean
  /**
   * The factors of a user now, never remembered or shared (R133); `undefined` if the service cannot tell.
   * @throws {ServiceError}, which never means "none" (R131).
   */
  of(userId: string, contact: Contact): Promise<Enrolled | undefined>
}

/** Asks the service which users have an app or keys, if it can tell. */
export function createEnrolledFactors({ factorsOf, keys }: MfaService, offersKeys: boolean): EnrolledFactors {
  if (!factorsOf) return { canTell: false, mayHaveKeys: false, of: nothing }
  return {
    canTell: true,
    // A host that switched keys off may have users with keys, who still have MFA (R132).
    mayHaveKeys: keys !== undefined,
    of: async (userId, contact) => readEnrolled(await factorsOf({ account: userId, contact }), offersKeys),
  }
}

function readEnrolled(
  { existing, offeredKeys = [], backupCodesLeft }: AnswerOf<'factorsOf'>,
  offersKeys: boolean,
): Enrolled {
  const isUsable = ({ method, usable }: AnswerOf<'factorsOf'>['existing'][number]) =>
    usable && (method === 'app' || offersKeys)
  const usable = existing.filter(isUsable).map(({ method }) => method)
  const app = existing.find(({ method }) => method === 'app')
  const keys = KEY_METHODS.filter((method) => usable.includes(method))
  return {
    app: usable.includes('app'),
    appDigits: app?.digits,
    ...(offersKeys && (offeredKeys.length > 0 || keys.length > 0) && { keys }),
    withheld: existing.filter((factor) => !isUsable(factor)).map(({ method }) => method),
    weakApp: app?.weak === true,
    recorded: {
      app: app !== undefined,
      keys: existing.some(({ method }) => isKeyMethod(method)),
      backupCodes: backupCodesLeft > 0,
    },
  }
}
