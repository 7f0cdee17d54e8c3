import type { ServiceProblemCode } from 'countersign/protocol'

/** What a problem is, for its answer and for its page. */
export interface KnownProblem {
  readonly status: number
  readonly title: string
  /** What happened, in a sentence or two. */
  readonly happened: string
  /** What the caller can do about it, one sentence each. */
  readonly helps: readonly string[]
}

/** Every problem that the service answers with, by its stable code. */
export const PROBLEMS: Readonly<Record<ServiceProblemCode, KnownProblem>> = {
  invalid_request: {
    status: 400,
    title: 'The request is not valid.',
    happened:
      'A parameter is missing or not what it should be, or the body could not be read. Nothing was done.',
    helps: [
      'errors names each field that is wrong and says what it should be.',
      'The parameters of every call, with examples, are in /docs.',
    ],
  },
  invalid_code: {
    status: 401,
    title: 'The code is not valid.',
    happened:
      'The code is wrong, was used before, has run out, or was never sent. The service does not tell which, so that nobody learns anything by guessing. Only for a code that an app made in the last ten minutes, and that nobody used, clock_steps tells of how many steps of 30 seconds ago it is.',
    helps: [
      'Let the person type it again, or ask for a new one.',
      'Show this as an everyday answer: it is no error of your application.',
      'With clock_steps, tell the person to have the telephone set its clock by itself.',
    ],
  },
  invalid_api_key: {
    status: 401,
    title: 'The API key is missing or not valid.',
    happened:
      'The header Authorization: Bearer <key> is missing, or the key in it belongs to no application.',
    helps: [
      'Compare the key your application sends with the one the service was given, character by character.',
      'Only the header is read: a key in the address or in the body is not.',
      'Never show this to a person as a wrong code: it is a fault in the configuration.',
    ],
  },
  factor_disabled: {
    status: 403,
    title: 'This factor is disabled and must be set up again.',
    happened: 'There were so many wrong codes since the factor was set up that it no longer proves anything.',
    helps: [
      'Let the person use another factor and set this one up again.',
      'A contact is set up again by a code with Purpose=enrolment, asked for after another factor was shown.',
    ],
  },
  method_off: {
    status: 403,
    title: 'This method is not offered.',
    happened: 'The service has no way to deliver by this method, or it is switched off for your application.',
    helps: [
      'Offer the person another method.',
      'The operator of the service says which channels are delivered, and how.',
    ],
  },
  not_found: {
    status: 404,
    title: 'There is nothing at this address.',
    happened: 'No route of the service has this path.',
    helps: ['The paths are in /docs. They are case-sensitive in their parameters and begin with /v1.'],
  },
  method_not_allowed: {
    status: 405,
    title: 'This address does not take this HTTP method.',
    happened: 'The path exists, but not for this method.',
    helps: ['The header Allow names the methods it takes. Everything that sends or verifies is a POST.'],
  },
  request_timeout: {
    status: 408,
    title: 'The request did not arrive in time.',
    happened: 'The head or the body of the request came too slowly and the connection was closed.',
    helps: ['Send it again. If it happens often, look at the network between you and the service.'],
  },
  idempotency_key_in_flight: {
    status: 409,
    title: 'The first request with this Idempotency-Key is not answered yet.',
    happened: 'The same request is being worked on at this moment. It was not started a second time.',
    helps: [
      'Ask again after Retry-After seconds with the same key and body: you get the answer of the first one.',
    ],
  },
  body_too_large: {
    status: 413,
    title: 'The body is larger than 4 KB.',
    happened: 'No call of the service needs that much. It was not read to its end.',
    helps: ['Send only the parameters of the call.'],
  },
  unsupported_media_type: {
    status: 415,
    title: 'The body must be JSON or form-encoded, in UTF-8.',
    happened: 'Content-Type is missing or another one, or the body is compressed.',
    helps: [
      'Use application/json or application/x-www-form-urlencoded.',
      'Leave out Content-Encoding: compressed bodies are not taken.',
    ],
  },
  contact_refused: {
    status: 422,
    title: 'This contact cannot be reached by this method.',
    happened: 'The number is not assigned, is a premium or toll-free one, or lies where nothing is sent.',
    helps: ['Ask the person for another number or mailbox.'],
  },
  idempotency_key_reused: {
    status: 422,
    title: 'This Idempotency-Key was used for another request.',
    happened: 'A key stands for one request, with all its parameters, for 24 hours.',
    helps: [
      'Make a fresh key, such as a random UUID, for each action of a person, and repeat it only to try the same again.',
    ],
  },
  limited: {
    status: 429,
    title: 'Too many messages. Try again later.',
    happened:
      'A budget of messages is used up: of the account, of the mailbox or telephone, of the client address, or of the application.',
    helps: [
      'Retry-After and retry_after say how many seconds to wait.',
      'RateLimit and RateLimit-Policy show the budgets.',
      'Tell the person how long it takes; a code that was sent before still counts.',
    ],
  },
  locked: {
    status: 429,
    title: 'Too many wrong codes. The account is locked for a while.',
    happened:
      'No code of this account is looked at until the lock ends by itself. Right codes are refused, too.',
    helps: ['Retry-After and retry_after say how many seconds it lasts. Tell the person so.'],
  },
  head_too_large: {
    status: 431,
    title: 'The address and headers are too large.',
    happened: 'Address and headers together have more than 16 KB.',
    helps: [
      'Send parameters in the body, and leave out cookies and other headers that the service does not read.',
    ],
  },
  internal_error: {
    status: 500,
    title: 'The service failed.',
    happened: 'Something went wrong inside the service. No code was used up by it.',
    helps: [
      'Try again in a while.',
      'The answer has the header X-Request-Id: with it the operator finds the failure in the log.',
    ],
  },
  delivery_failed: {
    status: 502,
    title: 'The message could not be delivered.',
    happened: 'What carries the message refused it for good. The code in it is dead.',
    helps: [
      'Let the person check the contact, or use another method.',
      'The operator finds the reason in the log.',
    ],
  },
  transcription_unavailable: {
    status: 501,
    title: 'This service has nothing to transcribe with.',
    happened: 'No engine that turns speech into text is set up or installed, or ffmpeg is missing.',
    helps: [
      'Whoever runs the service can install ffmpeg, pocketsphinx and pocketsphinx-en-us.',
      'Or set SERVICE_TRANSCRIBER to the address of a transcription server or to a command.',
    ],
  },
  busy: {
    status: 429,
    title: 'As many recordings are being transcribed as can be at once.',
    happened: 'The service works on as many recordings at once as it has processor cores.',
    helps: ['Retry-After and retry_after say how many seconds to wait.'],
  },
  address_refused: {
    status: 422,
    title: 'The service does not fetch from this address.',
    happened:
      'The address is not https, not public, has a user name or an unusual port, or answered with a redirect.',
    helps: [
      'Give the address at which the file itself lies, or upload the file.',
      'Whoever runs the service can list hosts of their own in SERVICE_TRANSCRIBE_HOSTS.',
    ],
  },
  fetch_failed: {
    status: 422,
    title: 'There is no file to be had at this address, or not in time.',
    happened: 'The host did not answer 200, broke off, packed the file, or took longer than 30 seconds.',
    helps: ['Check that the address can be opened without signing in, or upload the file.'],
  },
  file_too_large: {
    status: 413,
    title: 'The file is larger than 25 MB.',
    happened: 'Reading stopped at 25 MB.',
    helps: ['Send the sound alone, as MP3, Opus or AAC.'],
  },
  recording_too_long: {
    status: 422,
    title: 'The recording is longer than 10 minutes.',
    happened: 'The recording was decoded, and goes on after 10 minutes.',
    helps: ['Cut it into parts.'],
  },
  unsupported_media: {
    status: 415,
    title: 'The file is not a recording of a known kind.',
    happened:
      'It could not be decoded, has no sound in it, or was said to be something else than a recording.',
    helps: ['WAV, MP3, FLAC, Ogg, Opus, AAC, M4A, MP4, WebM, Matroska, AIFF, AMR and CAF are known.'],
  },
  no_speech: {
    status: 422,
    title: 'No words were found in the recording.',
    happened: 'The engine heard the whole recording and found nothing to write down.',
    helps: ['Check that somebody speaks in it, in a language that the engine knows.'],
  },
}
