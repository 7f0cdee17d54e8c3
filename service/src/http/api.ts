import type { BackupAnswer, EnrollAppAnswer, SendAnswer, SendType, VerifyAnswer } from 'countersign/protocol'
import express, { type Express, type RequestHandler } from 'express'
import type { Core } from '../flows/context.js'
import type { IdempotentRequests } from '../idempotency/idempotent-requests.js'
import type { Metrics } from '../metrics/metrics.js'
import { sendBackupCodes } from '../flows/send-backup-codes.js'
import { enrollApp } from '../flows/enroll-app.js'
import {
  readBackup,
  readEnrollApp,
  readSend,
  readVerify,
  type SendInput,
  type VerifyInput,
} from '../requests/inputs.js'
import { send } from '../flows/send-code.js'
import { verify } from '../flows/verify-code.js'
import type { Applications } from './authenticate.js'
import { readBody } from './body.js'
import { authenticate, call, type Granted } from './flow-route.js'
import { deliveryRoute } from './routes/delivery.js'
import { failures } from './error-handler.js'
import { health, type Readiness, readiness } from './routes/health.js'
import { onceByKey } from './idempotency-key.js'
import { type Inboxes, inboxRoute } from './routes/inbox.js'
import { metricsRoute } from './routes/metrics.js'
import { observeRequests } from './observe-requests.js'
import { apiDocument } from './openapi/document.js'
import { docsRoute, documentRoute } from './routes/openapi.js'
import { plainHead } from './ambiguous-headers.js'
import { PUBLIC_URL, problem } from './problem.js'
import { problemList, problemPage } from './routes/problems.js'
import { transcribeRoute } from './routes/transcribe.js'

/** What the HTTP API is put together from. */
export interface ApiParts {
  readonly core: Core
  readonly applications: Applications
  readonly inboxes: Inboxes
  readonly idempotent: IdempotentRequests
  readonly metrics: Metrics
  /** Opens `/metrics` to whoever has it; without it only this machine is answered. */
  readonly metricsKey: string | undefined
  /** Where the service is reached, as the operator told it. */
  readonly publicUrl: string | undefined
  readonly look: () => Promise<Readiness>
  readonly isStopping: () => boolean
}

/** The HTTP API. Needs no session, sets no cookie, and can be mounted or listened with. */
export function httpApi(parts: ApiParts): Express {
  const { core, applications, metrics } = parts
  const api = express()
  api.disable('x-powered-by')
  api.disable('etag')
  api.set('query parser', 'simple')
  api.set(PUBLIC_URL, parts.publicUrl)
  api.use(observeRequests(core.log, metrics.observeRequest))
  api.use(plainAnswers(parts.isStopping))
  api.use(plainHead)

  // Routes are tried in turn: what is asked most comes first.
  const once = onceByKey(parts.idempotent, core.log)
  const verb = (path: string, handler: RequestHandler) =>
    api
      .route(path)
      .post(authenticate(applications), ...readBody, handler)
      .all(onlyBy('POST'))
  verb('/v1/mfa', call(core, { read: readSend, verb: send, answer: answerSend, once }))
  verb('/v1/mfa/verify', call(core, { read: readVerify, verb: verify, answer: answerVerify }))
  verb('/v1/mfa/app', call(core, { read: readEnrollApp, verb: enrollApp, answer: answerEnrollApp }))
  verb('/v1/mfa/backup', call(core, { read: readBackup, verb: sendBackupCodes, answer: answerBackup, once }))

  const page = (path: string, ...handlers: RequestHandler[]) =>
    api
      .route(path)
      .get(...handlers)
      .all(onlyBy('GET'))
  page('/healthz', health)
  page('/readyz', readiness(parts.look))
  page('/metrics', metricsRoute(metrics, parts.metricsKey))
  const document = apiDocument(parts.publicUrl)
  page('/openapi.json', documentRoute(document))
  page('/docs', docsRoute(document))
  page('/problems', problemList)
  page('/problems/:code', problemPage)

  api
    .route('/v1/mfa/deliveries/:challenge')
    .get(authenticate(applications), deliveryRoute(core.store))
    .all(onlyBy('GET'))
  api
    .route('/v1/transcribe')
    .post(authenticate(applications), ...transcribeRoute(core.transcription))
    .all(onlyBy('POST'))
  page('/v1/test/inbox', authenticate(applications), inboxRoute(parts.inboxes))

  api.use((_request, response) => problem(response, 'not_found'))
  api.use(failures(core.log))
  return api
}

function plainAnswers(isStopping: () => boolean): RequestHandler {
  return function setPlainHeaders(_request, response, next) {
    response.setHeader('Cache-Control', 'no-store')
    response.setHeader('X-Content-Type-Options', 'nosniff')
    // Whoever keeps a connection open learns that the next request must go elsewhere.
    if (isStopping()) response.setHeader('Connection', 'close')
    next()
  }
}

function onlyBy(method: 'GET' | 'POST'): RequestHandler {
  return function refuseMethod(_request, response) {
    response.set('Allow', method === 'GET' ? 'GET, HEAD' : method)
    problem(response, 'method_not_allowed')
  }
}

function answerSend(answer: Granted<SendAnswer>, input: SendInput) {
  return {
    status: answer.outcome,
    challenge: answer.challenge,
    type: input.method.toUpperCase() as SendType,
    expires_in: answer.expiresInSeconds,
    resend_in: answer.resendInSeconds,
  }
}

function answerVerify(answer: Granted<VerifyAnswer>, input: VerifyInput) {
  if (answer.outcome === 'invalid') {
    const { clockSteps } = answer
    return { problem: 'invalid_code', ...(clockSteps !== undefined && { clockSteps }) } as const
  }
  return { valid: true, type: input.type, backup_codes_left: answer.backupCodesLeft }
}

function answerEnrollApp(answer: Granted<EnrollAppAnswer>) {
  const qr = answer.qr.slice(answer.qr.indexOf(',') + 1)
  return { qr, otpauth_uri: answer.uri, secret: answer.secret }
}

function answerBackup(answer: Granted<BackupAnswer>) {
  return { status: answer.outcome, count: answer.count }
}
