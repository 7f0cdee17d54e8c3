import { HostError } from './errors.js'
import type { Settings } from './settings.js'
import { withTimeout } from './timeout.js'

/**
 * The settings with functions of the host that are safe to call. One that must answer at once and returns a promise or another
 * wrong value fails the request, and so does one whose promise is not settled within `callbackTimeout`; a logger that fails
 * changes nothing. Without this, the rejection of such a promise would end the process, an asynchronous `canTrust` would always
 * count as "yes", and a request could wait forever.
 */
export function withCheckedCallbacks(settings: Settings): Settings {
  const { logger, preferred, userId, appContact, location, render, trustedDevices, languages, notices } =
    settings
  const { factors, policy, passkeySignIn, recovery, onAppEnrolled, onAppRemoved, callbackTimeoutMs } =
    settings
  return {
    ...settings,
    logger: safeLogger(logger),
    factors: limited('factors', factors, callbackTimeoutMs),
    policy: policy && limited('policy', policy, callbackTimeoutMs),
    onAppEnrolled: onAppEnrolled && limited('onAppEnrolled', onAppEnrolled, callbackTimeoutMs),
    onAppRemoved: onAppRemoved && limited('onAppRemoved', onAppRemoved, callbackTimeoutMs),
    notices: {
      ...notices,
      onCompromise:
        notices.onCompromise && limited('notices.onCompromise', notices.onCompromise, callbackTimeoutMs),
    },
    languages: {
      ...languages,
      remember: languages.remember && limited('languages.remember', languages.remember, callbackTimeoutMs),
      locale: checked('languages.locale', languages.locale, isOptionalText, 'a language tag or undefined'),
    },
    preferred: checked('pages.preferred', preferred, isOptionalText, 'the id of a factor or undefined'),
    userId: checked('userId', userId, () => true, 'a string or a number'),
    appContact: checked('appContact', appContact, () => true, 'a contact or undefined'),
    passkeySignIn: checked('login.passkeySignIn', passkeySignIn, isPossession, '"hwk", "swk" or undefined'),
    location: checked('location', location, isOptionalText, 'text or undefined'),
    render: checked('pages.render', render, isText, 'an HTML document as text'),
    recovery: recovery && {
      ...recovery,
      onFactorsEnded: limited('recovery.onFactorsEnded', recovery.onFactorsEnded, callbackTimeoutMs),
      contacts: checked('recovery.contacts', recovery.contacts, isTexts, 'a list of contacts'),
    },
    trustedDevices: trustedDevices && {
      ...trustedDevices,
      canTrust: checked('trustedDevices.canTrust', trustedDevices.canTrust, isBoolean, 'true or false'),
      fingerprint: checked(
        'trustedDevices.fingerprint',
        trustedDevices.fingerprint,
        isTextOrNumber,
        'text or a number',
      ),
    },
  }
}

/** A callback whose promise is awaited no longer than `timeoutMs`. What it answers later is ignored. */
function limited<Args extends unknown[], Answer>(
  name: string,
  call: (...args: Args) => Answer | Promise<Answer>,
  timeoutMs: number,
): (...args: Args) => Answer | Promise<Answer> {
  const timedOut = () =>
    new HostError(
      'ERR_MFA_CALLBACK_TIMEOUT',
      `The option ${name} did not answer within ${timeoutMs} ms, so the request failed; a later answer is ignored. Check what it waits for, or raise callbackTimeout.`,
    )
  return (...args) => {
    const answer = call(...args)
    return isPromise(answer) ? withTimeout(Promise.resolve(answer), timeoutMs, timedOut) : answer
  }
}

function checked<Args extends unknown[], Answer>(
  name: string,
  call: ((...args: Args) => Answer) | undefined,
  isValid: (answer: unknown) => boolean,
  expected: string,
): ((...args: Args) => Answer) | undefined {
  if (!call) return undefined
  return (...args) => {
    const answer = call(...args)
    if (isPromise(answer)) {
      // Its rejection would otherwise be unhandled. The error below is reported instead.
      Promise.resolve(answer).catch(() => {})
      throw new TypeError(`The option ${name} returned a promise. Return ${expected} directly.`)
    }
    if (isValid(answer)) return answer
    throw new TypeError(`The option ${name} returned an invalid value. Return ${expected}.`)
  }
}

/** There is nowhere to report the failure of the logger itself. */
function safeLogger(logger: Settings['logger']): Settings['logger'] {
  const safely = async (call: () => unknown) => {
    await call()
  }
  return {
    info: (message) => void safely(() => logger.info?.(message)).catch(() => {}),
    warn: (message) => void safely(() => logger.warn(message)).catch(() => {}),
    // `console.error` would print an argument that is not given.
    error: (...args) => void safely(() => logger.error(...args)).catch(() => {}),
  }
}

function isPromise(answer: unknown): boolean {
  return typeof answer === 'object' && answer !== null && typeof Reflect.get(answer, 'then') === 'function'
}

const isText = (answer: unknown) => typeof answer === 'string'
const isOptionalText = (answer: unknown) => answer === undefined || answer === null || isText(answer)
const isTextOrNumber = (answer: unknown) => isText(answer) || typeof answer === 'number'
const isPossession = (answer: unknown) => answer === undefined || answer === 'hwk' || answer === 'swk'
const isTexts = (answer: unknown) => Array.isArray(answer) && answer.every(isText)
const isBoolean = (answer: unknown) => typeof answer === 'boolean'
