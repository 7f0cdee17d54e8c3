import type { EnrollAppRequest } from 'countersign/protocol'
import {
  type CompleteMfaService,
  type TranscriptionService,
  transcriptionWire,
  VERIFY_TYPE,
  wire,
} from 'countersign/protocol'
import type { Application } from '../application.js'
import { deliveryState } from '../delivery/delivery-state.js'
import {
  parseBackup,
  parseCreateBackupCodes,
  parseEnrollApp,
  parseFactors,
  parseRemoveFactor,
  parseSend,
  parseTranscribe,
  parseVerify,
} from '../requests/inputs.js'
import { fileStats, fromPath } from '../transcription/sources/from-path.js'
import { issueTicket } from '../transcription/tickets.js'
import { accountFactors } from './account-factors.js'
import type { FlowContext } from './context.js'
import { createBackupCodes } from './create-backup-codes.js'
import { enrollApp } from './enroll-app.js'
import { importApp } from './import-app.js'
import { accountAnswers, answer, userFields } from './in-process-answer.js'
import { inProcessJobs } from './in-process-jobs.js'
import { inProcessKeys } from './in-process-keys.js'
import { removeFactor } from './remove-factor.js'
import { sendBackupCodes } from './send-backup-codes.js'
import { sendCode } from './send-code.js'
import { liveUnavailable, transcribeLive } from './transcribe-live.js'
import { verifyCode } from './verify-code.js'

/**
 * The service without HTTP, for one application, which is looked up for each call. Requests are validated like those of
 * the HTTP API: an invalid one throws a `ServiceError` with code `ERR_MFA_SERVICE_REQUEST`, a failing store one with
 * `ERR_MFA_SERVICE_UNAVAILABLE`.
 */
export function inProcessService(
  context: FlowContext,
  findApplication: () => Promise<Application>,
): CompleteMfaService & TranscriptionService {
  const ofAccount = accountAnswers(context, findApplication)
  return {
    send: (request) =>
      ofAccount(
        parseSend({
          ...userFields(request),
          Type: request.method.toUpperCase(),
          Challenge: request.challenge,
          Transaction: request.transaction,
          Purpose: request.purpose,
        }),
        sendCode,
      ),
    verify: (request) =>
      ofAccount(
        parseVerify({
          ...userFields(request),
          Type: VERIFY_TYPE[request.method],
          Code: request.code,
          Kind: request.kind.toUpperCase(),
          Challenge: request.challenge,
          Transaction: request.transaction,
        }),
        async (context, application, input) => {
          const verdict = await verifyCode(context, application, input)
          // The kind was named, so the code counted as nothing else.
          const { kind } = request
          return verdict.outcome === 'valid' && kind === 'backup' ? { ...verdict, kind } : verdict
        },
      ),
    enrollApp: (request) => ofAccount(parseEnrollApp(userFields(request)), enrollApp),
    sendBackupCodes: (request) =>
      ofAccount(parseBackup({ ...userFields(request), Type: request.method.toUpperCase() }), sendBackupCodes),
    deliveryOf: ({ challenge }) =>
      answer({ ok: true, value: challenge }, async (value) =>
        deliveryState(context.store, (await findApplication()).id, value),
      ),
    factorsOf: (request) =>
      ofAccount(parseFactors(userFields(request)), async (context, application, input) => {
        const { outcome: _known, ...factors } = await accountFactors(context, application, input)
        return factors
      }),
    createBackupCodes: (request) => ofAccount(parseCreateBackupCodes(userFields(request)), createBackupCodes),
    removeFactor: (request) =>
      ofAccount(
        parseRemoveFactor({ ...userFields(request), Factor: request.factor.toUpperCase() }),
        removeFactor,
      ),
    codes: wire.COUNTERSIGN_CODES,
    keys: inProcessKeys(context, findApplication),
    async transcribe(request) {
      if (!transcriptionWire.isAddress(request.file)) await fileStats(request.file)
      const { signal: callerGone, onProgress } = request
      try {
        return await answer(
          parseTranscribe({ ...request, response_format: request.format }),
          async (input) => {
            const { file, ...speech } = input
            const source = transcriptionWire.isAddress(file)
              ? context.transcription.fromAddress(file)
              : fromPath(file)
            const origin = { application: (await findApplication()).id }
            return context.transcription.transcribe(source, origin, { ...speech, callerGone, onProgress })
          },
        )
      } catch (error) {
        throw callerGone?.aborted ? callerGone.reason : error
      }
    },
    ...inProcessJobs(context, findApplication),
    async *transcribeLive(audio, options) {
      yield* transcribeLive(context.live, (await findApplication()).id, audio, options)
    },
    async createStreamTicket() {
      if (!context.live.isAvailable) throw liveUnavailable()
      return issueTicket(context.store, (await findApplication()).id)
    },
  }
}

/** Binds an authenticator app whose secret exists already, for example in another system. */
export interface ImportAppRequest extends EnrollAppRequest {
  /** In base32 without padding, at least 128 bits, for codes with SHA-1, 6 digits and steps of 30 s. */
  readonly secret: string
}

/** `importApp` for one application; requests are validated like all others. */
export function appImporter(context: FlowContext, findApplication: () => Promise<Application>) {
  const ofAccount = accountAnswers(context, findApplication)
  return (request: ImportAppRequest): Promise<'bound' | 'kept'> =>
    ofAccount(parseEnrollApp(userFields(request)), (context, application, input) =>
      importApp(context, application, input, request.secret),
    )
}
