import {
  API_KEY_INFO,
  type apiKeyInfo,
  SERVICE_HEADER,
  SERVICE_IDENTITY,
  type serviceIdentity,
} from 'countersign/protocol'
import { jobWire, streamWire } from 'countersign/speech'
import express, { type Express, type RequestHandler } from 'express'
import type * as z from 'zod'
import type { FlowContext } from '../../flows/context.js'
import type { IdempotentRequests } from '../../flows/idempotency/idempotent-requests.js'
import { takesBody, VERB_FLOWS } from '../../flows/verb-flows.js'
import type { ReportSources } from '../../messages/receipts/report-source.js'
import { nameOfPartition } from '../../store/partition.js'
import type { Metrics } from '../metrics/metrics.js'
import type { Readiness } from '../readiness.js'
import { authenticate, callerOfRequest, type FindCaller } from './authenticate.js'
import { bodyReader } from './body.js'
import { answerWithin, errorHandler, skipAnswered } from './error-handler.js'
import { flowRoute } from './flow-route.js'
import { refuseAmbiguousHeaders } from './headers.js'
import { createOnceByKey } from './idempotency-key.js'
import { observeRequests } from './observe-requests.js'
import { PUBLIC_URL, problem } from './problem.js'
import { health, metricsRoute, readiness } from './routes/health.js'
import { type Inboxes, inboxRoute, reportsRoute } from './routes/messages.js'
import { documentRoute, problemList, problemPage, streamDocumentRoute } from './routes/openapi.js'
import {
  createJobRoute,
  deleteJobRoute,
  showJobRoute,
  ticketRoute,
  transcribeRoute,
} from './routes/transcribe.js'
import { upgradeRequired } from './routes/upgrade-required.js'
import { eraseRoute, exportRoute, usersRoute } from './routes/users.js'

/** The parts of the HTTP API. */
export interface ApiParts {
  readonly context: FlowContext
  readonly findCaller: FindCaller
  readonly inboxes: Inboxes
  readonly idempotent: IdempotentRequests
  readonly metrics: Metrics
  readonly metricsKey: string | undefined
  readonly metricsWithoutKey: boolean
  readonly publicUrl: string | undefined
  readonly checkReadiness: () => Promise<Readiness>
  /** The proxies in front of the API, whose `X-Forwarded-For` says where a request came from. */
  readonly trustedProxies: readonly string[]
  readonly isStopping: () => boolean
  readonly reports: ReportSources
  /** How long a request may take, except for transcription. */
  readonly requestTimeoutMs: number
}

/** The HTTP API as an Express application. It needs no session and sets no cookies. */
export function httpApi(parts: ApiParts): Express {
  const { context, findCaller, metrics } = parts
  const api = express()
  api.disable('x-powered-by')
  api.disable('etag')
  api.set('query parser', 'simple')
  api.set(PUBLIC_URL, parts.publicUrl)
  api.set('trust proxy', [...parts.trustedProxies])
  api.use(observeRequests(context.log, metrics.observeRequest))
  api.use(commonHeaders(parts.isStopping))
  api.use(refuseAmbiguousHeaders)

  // Express tries routes in order, so the most frequent ones come first.
  const once = createOnceByKey(parts.idempotent, context.log)
  const deadline = answerWithin(parts.requestTimeoutMs, context.log)
  const createAuthenticated = (path: string) => [deadline, authenticate(findCaller, path), skipAnswered]
  const addRoute = (method: 'get' | 'post', path: string, ...handlers: readonly RequestHandler[]) =>
    api
      .route(path)
      [method](...handlers)
      .all(refuseOtherMethods(method))
  const get = (path: string, ...handlers: readonly RequestHandler[]) => addRoute('get', path, ...handlers)
  const post = (path: string, handler: RequestHandler, maxBytes?: number) =>
    addRoute('post', path, ...createAuthenticated(path), ...bodyReader(maxBytes), skipAnswered, handler)
  for (const verbFlow of VERB_FLOWS) {
    const { verb } = verbFlow
    const path = verb.path.replace(/\{(\w+)\}/g, ':$1')
    const route = flowRoute(context, verbFlow, once)
    if (takesBody(verb)) post(path, route, verb.maxBytes)
    else get(path, ...createAuthenticated(verb.path), route)
  }
  post('/v1/users/export', exportRoute(context))
  post('/v1/users/erase', eraseRoute(context))
  get(SERVICE_IDENTITY, (_request, response) => void response.json(IDENTITY))
  get('/healthz', health)
  get('/readyz', readiness(parts.checkReadiness))
  get('/metrics', metricsRoute(metrics, { key: parts.metricsKey, withoutKey: parts.metricsWithoutKey }))
  get('/openapi.json', documentRoute(parts.publicUrl))
  get('/asyncapi.json', streamDocumentRoute(parts.publicUrl))
  get('/problems', problemList)
  get('/problems/:code', problemPage)

  addRoute('post', '/v1/reports/:provider', ...reportsRoute(parts.reports, context))
  const transcribe = transcribeRoute(context.transcription)
  addRoute('post', '/v1/transcribe', authenticate(findCaller, '/v1/transcribe'), ...transcribe)
  const { JOBS_PATH } = jobWire
  addRoute('post', JOBS_PATH, authenticate(findCaller, JOBS_PATH), ...createJobRoute(context.jobs))
  const ofJob = authenticate(findCaller, `${JOBS_PATH}/{id}`)
  api
    .route(`${JOBS_PATH}/:id`)
    .get(ofJob, showJobRoute(context.jobs))
    .delete(ofJob, deleteJobRoute(context.jobs))
    .all(refuseOtherMethods('get', 'delete'))
  post(streamWire.TICKETS_PATH, ticketRoute(context.live, context.store))
  get(streamWire.STREAM_PATH, authenticate(findCaller, streamWire.STREAM_PATH), upgradeRequired)
  get('/v1/users', ...createAuthenticated('/v1/users'), usersRoute(context))
  get('/v1/test/inbox', ...createAuthenticated('/v1/test/inbox'), inboxRoute(parts.inboxes))
  get(API_KEY_INFO, ...createAuthenticated(API_KEY_INFO), showKey)

  api.use((_request, response) => problem(response, 'not_found'))
  api.use(errorHandler(context.log))
  return api
}

/** How the service identifies itself, so that a client knows its additions to the published API. */
const IDENTITY: z.output<typeof serviceIdentity> = { service: 'countersign', api: 1 }

/** `GET /v1/key`: what the API key of the request may do. */
const showKey: RequestHandler = function describeKey(request, response) {
  const { application, scopes, expiresAt } = callerOfRequest(request)
  const answer: z.output<typeof apiKeyInfo> = {
    application: nameOfPartition(application.id),
    mode: application.mode,
    scopes: [...scopes],
    ...(expiresAt !== null && { expires_at: new Date(expiresAt).toISOString() }),
  }
  response.json(answer)
}

function commonHeaders(isStopping: () => boolean): RequestHandler {
  return function setCommonHeaders(_request, response, next) {
    response.setHeader('Cache-Control', 'no-store')
    response.setHeader('X-Content-Type-Options', 'nosniff')
    response.setHeader(SERVICE_HEADER, IDENTITY.api)
    // Makes a client with a keep-alive connection send its next request elsewhere.
    if (isStopping()) response.setHeader('Connection', 'close')
    next()
  }
}

function refuseOtherMethods(...methods: readonly string[]): RequestHandler {
  const allowed = methods.map((method) => (method === 'get' ? 'GET, HEAD' : method.toUpperCase()))
  return function refuseMethod(_request, response) {
    response.set('Allow', allowed.join(', '))
    problem(response, 'method_not_allowed')
  }
}
