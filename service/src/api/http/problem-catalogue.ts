import type { ServiceProblemCode } from 'countersign/protocol'
import { limitText } from '../../accounts/limits.js'

/** A problem, as its response and its page describe it. */
export interface ProblemDescription {
  readonly status: number
  readonly title: string
  /** The event, in one or two sentences. */
  readonly happened: string
  /** The remedies of the caller, one sentence per entry. */
  readonly helps: readonly string[]
}

/** Every problem that the service responds with, by its stable code. */
export const PROBLEMS: Readonly<Record<ServiceProblemCode, ProblemDescription>> = {
  invalid_request: {
    status: 400,
    title: 'The request is invalid.',
    happened: 'A parameter is missing or invalid, or the body could not be parsed. Nothing was done.',
    helps: [
      'errors names each invalid field and says what is expected.',
      '/openapi.json describes the parameters of every call, with examples.',
    ],
  },
  invalid_code: {
    status: 401,
    title: 'The code is invalid.',
    happened:
      'The code is wrong, was used before, has expired, or was never sent. The response does not say which, so that guessing reveals nothing. Only for an unused code that an authenticator app showed in the last ten minutes, clock_steps says how many steps of 30 seconds ago it was valid.',
    helps: [
      'Let the user enter the code again, or send a new one.',
      'Treat this as an everyday response: it is not an error of your application.',
      'If clock_steps is present, ask the user to set the phone to automatic date and time.',
    ],
  },
  invalid_key: {
    status: 401,
    title: 'The response of the authenticator is invalid.',
    happened:
      'A security key or passkey was not accepted; fault says why. Its challenge is used up, unless fault is `challenge` or `malformed`.',
    helps: [
      'Request new options and let the user try again.',
      'With fault `origin`, `top_origin` or `relying_party`, compare the relying party in the settings of your application with the address of your pages.',
      'With fault `unknown_key`, no account has this key: call `PublicKeyCredential.signalUnknownCredential`, and the password manager forgets it.',
    ],
  },
  invalid_api_key: {
    status: 401,
    title: 'The API key is missing or invalid.',
    happened:
      'The header Authorization: Bearer <key> is missing, or its key does not belong to any application, was revoked or has expired.',
    helps: [
      'Compare the key that your application sends with the key of the service, character by character.',
      'Send the key in the header: a key in the address or in the body is ignored.',
      'Never show this to the user as a wrong code: it is a configuration error.',
    ],
  },
  missing_scope: {
    status: 403,
    title: 'The API key may not do this.',
    happened:
      'The API key is valid, but lacks the scope that this call needs; scope names it. Nothing was done.',
    helps: [
      'Create a key with this scope, or use the key that has it: countersign-service key list shows the scopes of all keys.',
      'GET /v1/key says which scopes a key has.',
      'Never show this to the user as a wrong code: it is a configuration error.',
    ],
  },
  invalid_ticket: {
    status: 401,
    title: 'The ticket is invalid.',
    happened:
      'The ticket of the transcription stream is unknown, was used before, or is older than 60 seconds.',
    helps: ['Request a new one with POST /v1/transcribe/tickets for each stream.'],
  },
  factor_disabled: {
    status: 403,
    title: 'This factor is disabled and must be set up again.',
    happened:
      'Too many wrong codes were entered since the factor was set up, so it no longer proves anything.',
    helps: [
      'Let the user sign in with another factor and set this one up again.',
      'To set up a contact again, request a code with Purpose=enrollment after the user has verified another factor.',
    ],
  },
  method_off: {
    status: 403,
    title: 'This method is not offered.',
    happened:
      'The service is not configured to deliver by this method, or it is switched off for your application.',
    helps: [
      'Offer the user another method.',
      'Ask the operator of the service which channels are configured.',
    ],
  },
  invalid_signature: {
    status: 403,
    title: 'The signature is missing or wrong.',
    happened:
      'Delivery reports must be signed by the carrier or mail provider that is configured. Nothing was changed.',
    helps: [
      'For Twilio, set SERVICE_PUBLIC_URL to the address at which Twilio reaches the service, and use the auth token of the account in SERVICE_DELIVERY.',
      'For Amazon SES, compare SERVICE_SES_TOPIC with the ARN of the topic; for SendGrid, SERVICE_SENDGRID_VERIFICATION_KEY with its verification key.',
    ],
  },
  not_found: {
    status: 404,
    title: 'There is nothing at this address.',
    happened: 'No route of the service has this path.',
    helps: ['/openapi.json lists all paths. They begin with /v1, and their parameters are case-sensitive.'],
  },
  method_not_allowed: {
    status: 405,
    title: 'This address does not support this HTTP method.',
    happened: 'The path exists, but not for this method.',
    helps: [
      'The header Allow lists the supported methods. Everything that sends or verifies a code is a POST.',
    ],
  },
  request_timeout: {
    status: 408,
    title: 'The request did not arrive in time.',
    happened: 'The headers or the body of the request arrived too slowly, so the connection was closed.',
    helps: ['Send it again. If it happens often, check the network between you and the service.'],
  },
  idempotency_key_in_flight: {
    status: 409,
    title: 'The first request with this Idempotency-Key is still in progress.',
    happened: 'The same request is being processed at this moment. It was not started a second time.',
    helps: [
      'Repeat it after Retry-After seconds with the same key and body to get the response to the first one.',
    ],
  },
  body_too_large: {
    status: 413,
    title: 'The body is larger than 4 KB.',
    happened: 'No call of the service needs that much. The body was not read completely.',
    helps: ['Send only the parameters of the call.'],
  },
  unsupported_media_type: {
    status: 415,
    title: 'The body must be JSON or a form, in UTF-8.',
    happened: 'Content-Type is missing or has another value, or the body is compressed.',
    helps: [
      'Use application/json or application/x-www-form-urlencoded.',
      'Omit Content-Encoding: compressed bodies are not accepted.',
    ],
  },
  contact_refused: {
    status: 422,
    title: 'This contact cannot be reached by this method.',
    happened:
      'The phone number is not assigned, belongs to a country that your application does not serve, or is of a type that no messages are sent to: satellite, personal, pager, premium-rate, toll-free, shared-cost and company numbers, and landlines for SMS. Or the carrier answered at once that the number or mailbox cannot be reached; a new code is then void. detail says which.',
    helps: [
      'Ask the user for another phone number or mailbox, or offer another method.',
      'If your application has users in the country, ask the operator to add it to the setting countries.',
    ],
  },
  phone_at_risk: {
    status: 422,
    title: 'This phone number gets no codes at present.',
    happened:
      'The phone check of the operator refuses the number, because it may be in the hands of another person: its SIM card or device was changed, it was ported or calls are forwarded. detail says which. Nothing was sent.',
    helps: [
      'Offer the user another method, such as an authenticator app, a key or a backup code.',
      'Do not tell the user the reason: it may be another person who asks.',
    ],
  },
  idempotency_key_reused: {
    status: 422,
    title: 'This Idempotency-Key was used for another request.',
    happened: 'A key identifies one request, with all its parameters, for 24 hours.',
    helps: [
      'Create a new key, such as a random UUID, for each action of a user, and reuse it only to retry the same request.',
    ],
  },
  limited: {
    status: 429,
    title: 'Too many messages. Try again later.',
    happened:
      'The account, the mailbox or phone number, the client address or the application has used up its budget of messages.',
    helps: [
      'Retry-After and retry_after say how many seconds to wait.',
      'RateLimit and RateLimit-Policy show the budgets.',
      'Tell the user how long to wait; a code that was sent before is still valid.',
    ],
  },
  locked: {
    status: 429,
    title: 'Too many wrong codes. The account is locked for a while.',
    happened: 'No code of this account is checked until the lock ends. The correct code is rejected too.',
    helps: ['Retry-After and retry_after say how many seconds the lock lasts. Tell the user.'],
  },
  account_busy: {
    status: 429,
    title: 'Too many requests of this account are in progress.',
    happened:
      'As many requests of this account as SERVICE_REQUESTS_PER_ACCOUNT allows are in progress in this process of the service. Nothing was done: no attempt was counted, and no message was sent.',
    helps: [
      'Repeat the request after Retry-After seconds.',
      'Do not show this to the user as a locked account: no code was checked.',
    ],
  },
  upgrade_required: {
    status: 426,
    title: 'This address is a WebSocket.',
    happened: 'The request has no header Upgrade: websocket, or a proxy removed it.',
    helps: [
      'Connect with a WebSocket client, or with client.transcribeLive of the package countersign.',
      'Let your proxy pass the headers Connection and Upgrade on.',
      'A program that mounts the service itself calls service.attach(server).',
    ],
  },
  head_too_large: {
    status: 431,
    title: 'The address and headers are too large.',
    happened: 'The address and the headers together are larger than 16 KB.',
    helps: [
      'Send parameters in the body, and omit cookies and other headers that the service does not read.',
    ],
  },
  internal_error: {
    status: 500,
    title: 'The service failed.',
    happened: 'An internal error occurred. No code was used up.',
    helps: [
      'Try again later.',
      'Give the operator the X-Request-Id of the response, which identifies the error in the log.',
    ],
  },
  unavailable: {
    status: 503,
    title: 'The service is temporarily unavailable.',
    happened:
      'The service cannot use its database: it is unreachable, read-only, out of disk space or too slow. If it failed in between, a wrong code may have been counted, and a message may still be sent.',
    helps: [
      'Try again after Retry-After seconds. Repeat a send with the same Idempotency-Key, so that it is sent once.',
      'The operator finds the reason in the log, and the present state at /readyz.',
    ],
  },
  delivery_failed: {
    status: 502,
    title: 'The message could not be delivered.',
    happened:
      'The mail server or gateway refused the message for good, but not because of its contact; a new code is void. Or the phone check of the operator gave no answer, and SERVICE_PHONE_CHECK_WHEN_UNAVAILABLE is refuse; then there is no new code.',
    helps: ['Let the user use another method.', 'The operator finds the reason in the log.'],
  },
  transcription_unavailable: {
    status: 501,
    title: 'This service cannot transcribe.',
    happened: 'No transcription engine is configured or installed, or ffmpeg is missing.',
    helps: [
      'The operator can install ffmpeg, pocketsphinx and pocketsphinx-en-us.',
      'Or set SERVICE_TRANSCRIBER to the address of a transcription server or to a command.',
    ],
  },
  busy: {
    status: 429,
    title: 'The maximum number of recordings is already being transcribed.',
    happened: 'The service transcribes as many recordings at once as SERVICE_TRANSCRIBER_CONCURRENCY allows.',
    helps: ['Retry-After and retry_after say how many seconds to wait.'],
  },
  address_refused: {
    status: 422,
    title: 'The service does not fetch from this address.',
    happened:
      'The address is not https, is not public, contains a user name or an unusual port, or redirects to such an address or more than three times.',
    helps: [
      'Give the final address of the file, or upload the file.',
      'The operator can allow internal hosts in SERVICE_TRANSCRIBE_HOSTS.',
    ],
  },
  fetch_failed: {
    status: 422,
    title: 'The file could not be fetched from this address.',
    happened:
      'The host did not respond with 200, closed the connection, compressed the file, or took longer than SERVICE_RECORDING_TIMEOUT allows (for a job, SERVICE_JOB_RECORDING_TIMEOUT).',
    helps: ['Check that the address can be opened without signing in, or upload the file.'],
  },
  file_too_large: {
    status: 413,
    title: 'The file is larger than this service accepts.',
    happened: `Reading stopped at the limit: SERVICE_RECORDING_MEGABYTES (default ${limitText('recordingMegabytes')?.usual}), for a job SERVICE_JOB_RECORDING_MEGABYTES (default ${limitText('jobRecordingMegabytes')?.usual}).`,
    helps: ['Send only the audio, as MP3, Opus or AAC.', 'Create a job with POST /v1/transcribe/jobs.'],
  },
  recording_too_long: {
    status: 422,
    title: 'The recording is longer than this service accepts.',
    happened: `It continues after the limit: SERVICE_RECORDING_LENGTH (default ${limitText('recordingLength')?.usual}), for a job SERVICE_JOB_RECORDING_LENGTH (default ${limitText('jobRecordingLength')?.usual}).`,
    helps: ['Create a job with POST /v1/transcribe/jobs, or split the recording into parts.'],
  },
  unsupported_media: {
    status: 415,
    title: 'The file is not a recording in a supported format.',
    happened:
      'It could not be decoded, contains no audio, or was served with the content type of something else.',
    helps: ['Supported are WAV, MP3, FLAC, Ogg, Opus, AAC, M4A, MP4, WebM, Matroska, AIFF, AMR and CAF.'],
  },
  recording_damaged: {
    status: 422,
    title: 'The recording is damaged.',
    happened:
      'More than one in fifty of its frames could not be decoded, or reading it ended in the middle with an error. A transcript would be of noise.',
    helps: ['Send another copy of the file.', 'A file that was merely cut off is transcribed up to there.'],
  },
  language_unavailable: {
    status: 422,
    title: 'The transcription engine does not have this language.',
    happened: 'The parameter language names a language that the engine of this service does not have.',
    helps: [
      'Leave language out if the engine should find out for itself.',
      'The operator selects the engine with SERVICE_TRANSCRIBER; SERVICE_TRANSCRIBER_LANGUAGES names its languages.',
    ],
  },
  timestamps_unavailable: {
    status: 422,
    title: 'The transcription engine gives no times.',
    happened:
      'Subtitles (srt, vtt) need the times of the words, which the engine of this service does not give. A single subtitle of the length of the recording would be of no use.',
    helps: [
      'Request json, text or verbose_json, which contains times only if the engine gives them.',
      'The operator can set SERVICE_TRANSCRIBER to pocketsphinx, or to a transcription server with a model that supports verbose_json, such as whisper-1.',
    ],
  },
  too_many_streams: {
    status: 503,
    title: 'The maximum number of streams is already being transcribed.',
    happened: 'The service transcribes as many streams at once as SERVICE_TRANSCRIPTION_STREAMS allows.',
    helps: ['Retry-After and retry_after say how many seconds to wait.'],
  },
  too_many_jobs: {
    status: 429,
    title: 'Your application has too many transcription jobs.',
    happened:
      'An application may have 1,000 jobs in all, 100 that are not finished, and recordings of up to SERVICE_JOB_STORAGE_MEGABYTES in those. Jobs are deleted a day after they end.',
    helps: [
      'Retry-After and retry_after say how many seconds to wait.',
      'Delete jobs whose result you have with DELETE /v1/transcribe/jobs/{id}.',
    ],
  },
  engine_failed: {
    status: 502,
    title: 'The transcription engine failed.',
    happened:
      'The transcription server refused the request or the key of the service, or responded with something other than a transcript; or the program on this machine failed.',
    helps: [
      'The operator finds the reason in the log (transcription.failed).',
      'Check SERVICE_TRANSCRIBER and SERVICE_TRANSCRIBER_KEY.',
    ],
  },
  engine_unavailable: {
    status: 503,
    title: 'The transcription engine is temporarily unavailable.',
    happened:
      'The transcription server could not be reached, is overloaded or limits requests, or the engine took longer than SERVICE_TRANSCRIBER_TIMEOUT allows.',
    helps: ['Retry-After and retry_after say how many seconds to wait.'],
  },
}

/** Whether a text is the code of a problem. */
export function isProblemCode(text: unknown): text is ServiceProblemCode {
  return typeof text === 'string' && Object.hasOwn(PROBLEMS, text)
}
