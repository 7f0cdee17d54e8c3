import { SessionEndedError } from '../errors.js'

export function sessionEnded(): SessionEndedError {
  return new SessionEndedError(
    'The session ended or changed during this request, so its result was discarded. Repeat the request in the current session.',
  )
}
