import { stat } from 'node:fs/promises'
import type { Caller, Contact, EnrollAppRequest } from 'countersign/protocol'
import { formatUser, isAddress, type MfaService, ServiceError, VERIFY_TYPE } from 'countersign/protocol'
import type { Application } from '../application.js'
import type { Core } from './context.js'
import { deliveryState } from '../delivery/delivery-state.js'
import { fromPath } from '../transcription/sources/from-path.js'
import { sendBackupCodes } from './send-backup-codes.js'
import { enrollApp } from './enroll-app.js'
import { importApp } from './import-app.js'
import type { Reading } from '../requests/parse.js'
import { readBackup, readEnrollApp, readSend, readTranscribe, readVerify } from '../requests/inputs.js'
import { send } from './send-code.js'
import { verify } from './verify-code.js'

/**
 * The service spoken to without HTTP, for one application, looked up for each call. Requests are checked as those of the HTTP API are; one
 * that is not valid throws a `ServiceError` `ERR_MFA_SERVICE_REQUEST`, a store that fails
 * `ERR_MFA_SERVICE_UNAVAILABLE`.
 */
export function inProcessService(core: Core, current: () => Promise<Application>): MfaService {
  return {
    send: (request) =>
      answer(
        readSend({
          ...person(request),
          Type: request.method.toUpperCase(),
          Challenge: request.challenge,
          Transaction: request.transaction,
          Purpose: request.purpose,
        }),
        async (input) => send(core, await current(), input),
      ),
    verify: (request) =>
      answer(
        readVerify({
          ...person(request),
          Type: VERIFY_TYPE[request.method],
          Code: request.code,
          Kind: request.kind.toUpperCase(),
          Challenge: request.challenge,
          Transaction: request.transaction,
        }),
        async (input) => verify(core, await current(), input),
      ),
    enrollApp: (request) =>
      answer(readEnrollApp(person(request)), async (input) => enrollApp(core, await current(), input)),
    sendBackupCodes: (request) =>
      answer(readBackup({ ...person(request), Type: request.method.toUpperCase() }), async (input) =>
        sendBackupCodes(core, await current(), input),
      ),
    deliveryOf: ({ challenge }) =>
      answer({ ok: true, value: challenge }, async (value) =>
        deliveryState(core.store, (await current()).id, value),
      ),
    async transcribe(request) {
      if (!isAddress(request.file)) await mustBeFile(request.file)
      return answer(readTranscribe(request), async ({ file }) => {
        const source = isAddress(file) ? core.transcription.fromAddress(file) : fromPath(file)
        return core.transcription.transcribe(source, { application: (await current()).id })
      })
    },
  }
}

/** Asks for an authenticator app to be bound whose secret the person already has. */
export interface ImportAppRequest extends EnrollAppRequest {
  /** In base32, at least 128 bits, for codes of SHA-1, 6 digits and 30 s. */
  readonly secret: string
}

/** `importApp` for one application; requests are checked as every other. */
export function appImporter(core: Core, current: () => Promise<Application>) {
  return (request: ImportAppRequest): Promise<'bound' | 'kept'> =>
    answer(readEnrollApp(person(request)), async (input) =>
      importApp(core, await current(), input, request.secret),
    )
}

async function mustBeFile(path: string): Promise<void> {
  if (!(await stat(path)).isFile()) throw new Error('What is to be transcribed must be a file.')
}

function person(request: Caller & { readonly contact: Contact }) {
  return {
    User: formatUser(request.contact),
    Account: request.account,
    ClientAddress: request.clientAddress,
    Locale: request.locale,
  }
}

async function answer<Input, Answer>(
  reading: Reading<Input>,
  verb: (input: Input) => Promise<Answer>,
): Promise<Answer> {
  if (!reading.ok) {
    const faults = reading.faults.map(({ field, detail }) => `${field} ${detail}`).join('; ')
    throw new ServiceError('ERR_MFA_SERVICE_REQUEST', `The MFA service cannot use this request: ${faults}.`)
  }
  try {
    return await verb(reading.value)
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause
    throw new ServiceError('ERR_MFA_SERVICE_UNAVAILABLE', 'The MFA service in this process failed.', {
      cause: plain(cause),
    })
  }
}

/**
 * An error without what hangs on it: a database's carries the statement and the row, with whose contact it was about,
 * and whoever catches ours writes it to a log (R89).
 */
function plain(cause: unknown): unknown {
  if (!(cause instanceof Error)) return undefined
  const { name, message, stack } = cause
  const code: unknown = Reflect.get(cause, 'code')
  const bare = Object.assign(new Error(message), { name, ...(typeof code === 'string' && { code }) })
  if (stack !== undefined) bare.stack = stack
  return bare
}
