import type { BackupAnswer, EnrollAppAnswer, SendAnswer, SendType, VerifyAnswer } from 'countersign/protocol'
import express, { type Express, type RequestHandler, type Response } from 'express'
import type { Core } from '../core.js'
import { sendBackupCodes } from '../verbs/backup-codes.js'
import { enrollApp } from '../verbs/enroll-app.js'
import {
  readBackup,
  readEnrollApp,
  readSend,
  readVerify,
  type SendInput,
  type VerifyInput,
} from '../verbs/requests.js'
import { send } from '../verbs/send.js'
import { verify } from '../verbs/verify.js'
import type { Applications } from './api-key.js'
import { readBody } from './body.js'
import { authenticate, call, type Granted } from './call.js'
import { failures } from './failures.js'
import { type Inboxes, inboxRoute } from './inbox-route.js'
import { problem } from './problem.js'

/** The HTTP API. Needs no session, sets no cookie, and can be mounted or listened with. */
export function httpApi(core: Core, applications: Applications, inboxes: Inboxes): Express {
  const api = express()
  api.disable('x-powered-by')
  api.disable('etag')
  api.set('query parser', 'simple')
  api.use(noStore)
  api.get('/healthz', (_request, response) => {
    response.json({ status: 'ok' })
  })
  const verb = (path: string, handler: RequestHandler) =>
    api
      .route(path)
      .post(authenticate(applications), ...readBody, handler)
      .all(onlyBy('POST'))

  verb(
    '/v1/mfa',
    call(readSend, (application, input) => send(core, application, input), answerSend),
  )
  verb(
    '/v1/mfa/verify',
    call(readVerify, (application, input) => verify(core, application, input), answerVerify),
  )
  verb(
    '/v1/mfa/app',
    call(readEnrollApp, (application, input) => enrollApp(core, application, input), answerEnrollApp),
  )
  verb(
    '/v1/mfa/backup',
    call(readBackup, (application, input) => sendBackupCodes(core, application, input), answerBackup),
  )
  api.route('/v1/test/inbox').get(authenticate(applications), inboxRoute(inboxes)).all(onlyBy('GET'))
  api.use((_request, response) => problem(response, 'not_found'))
  api.use(failures(core.log))
  return api
}

const noStore: RequestHandler = (_request, response, next) => {
  response.set({ 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' })
  next()
}

function onlyBy(method: 'GET' | 'POST'): RequestHandler {
  return function refuseMethod(_request, response) {
    response.set('Allow', method === 'GET' ? 'GET, HEAD' : method)
    problem(response, 'method_not_allowed')
  }
}

function answerSend(response: Response, answer: Granted<SendAnswer>, input: SendInput): void {
  response.json({
    status: answer.outcome,
    challenge: answer.challenge,
    type: input.method.toUpperCase() as SendType,
    expires_in: answer.expiresInSeconds,
    resend_in: answer.resendInSeconds,
  })
}

function answerVerify(response: Response, answer: Granted<VerifyAnswer>, input: VerifyInput): void {
  if (answer.outcome === 'invalid') problem(response, 'invalid_code')
  else response.json({ valid: true, type: input.type })
}

function answerEnrollApp(response: Response, answer: Granted<EnrollAppAnswer>): void {
  const qr = answer.qr.slice(answer.qr.indexOf(',') + 1)
  response.json({ qr, otpauth_uri: answer.uri, secret: answer.secret })
}

function answerBackup(response: Response, answer: Granted<BackupAnswer>): void {
  response.json({ status: answer.outcome, count: answer.count })
}
