import * as z from 'zod'
import { HostError } from '../errors.js'
import { readObject } from '../json.js'
import { limitTime } from '../time.js'

/** How a function of the host is called. */
interface CallbackRule {
  /** The name of the option. */
  readonly name: string
  /** The form of the option. Defaults to a function. */
  readonly must?: string
  /** Whether a promise of it is awaited, for at most ten seconds. */
  readonly awaits?: true
  /** The value that it must return at once, in words, and its check. By default, the value is not looked at. */
  readonly returns?: readonly [words: string, isValid?: (answer: unknown) => boolean]
}

/** A function of the host, checked: a promise where none may be, or an answer after 10 s, fails the request. */
export function callback<Callback>({ must = 'must be a function', ...rule }: CallbackRule) {
  const isCallback = (value: unknown): value is Call & Callback => typeof value === 'function'
  const schema = z.custom<Call & Callback>(isCallback, { error: must }).transform((call) => safe(call, rule))
  return schema as unknown as z.ZodType<Callback, Callback>
}

type Call = (...args: unknown[]) => unknown

/** How long a request waits for a promise of the host, in milliseconds. */
const CALLBACK_TIMEOUT_MS = 10_000

function safe(call: Call, { name, awaits, returns }: CallbackRule): Call {
  if (awaits) return limitAnswerTime(name, call)
  return returns ? checkAnswer(name, call, ...returns) : call
}

/** A callback whose promise is awaited no longer than `CALLBACK_TIMEOUT_MS`. What it answers later is ignored. */
function limitAnswerTime(name: string, call: Call): Call {
  const timedOut = () =>
    new HostError(
      'ERR_MFA_CALLBACK_TIMEOUT',
      `The option ${name} did not answer within ${CALLBACK_TIMEOUT_MS} ms, so the request failed; a later answer is ignored. Check what it waits for.`,
    )
  return (...args) => {
    const answer = call(...args)
    return isPromise(answer) ? limitTime(Promise.resolve(answer), CALLBACK_TIMEOUT_MS, timedOut) : answer
  }
}

function checkAnswer(name: string, call: Call, expected: string, isValid = (_answer: unknown) => true): Call {
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

function isPromise(answer: unknown): boolean {
  return typeof readObject(answer).then === 'function'
}

/** Whether a callback answered with text. */
export const isText = (answer: unknown): boolean => typeof answer === 'string'

/** Whether a callback answered with text or nothing. */
export const isOptionalText = (answer: unknown): boolean =>
  answer === undefined || answer === null || isText(answer)
