import {
  API_KEY_INFO,
  apiKeyInfo,
  SERVICE_IDENTITY,
  serviceIdentity,
  serviceProblem,
  VERBS,
} from 'countersign/protocol'
import { jobWire, transcriptionWire } from 'countersign/speech'
import type * as z from 'zod'
import {
  createDocument,
  type oas31,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
} from 'zod-openapi'
import { accountExport } from '../../../accounts/export-schema.js'
import { accountBody } from '../../../flows/inputs.js'
import { FLOWS, joinFlows, VERB_FLOWS, type VerbFlow } from '../../../flows/verb-flows.js'
import { findScope } from '../scopes.js'
import { ACCOUNT, describeSchema, describeVerb } from './described.js'
import {
  createKeyedResponse,
  createOperations,
  get,
  openResponse,
  post,
  problemResponses,
  queryText,
} from './operation.js'
import { eraseAnswer, HEADERS, inboxAnswer, readiness, usersAnswer } from './schemas.js'
import { SPEECH_OPERATIONS } from './speech-operations.js'

/** The OpenAPI document of the API. */
export type ApiDocument = oas31.OpenAPIObject

const CODE_FLOWS = joinFlows(VERBS, FLOWS)

function verbSchemas(name: string, verb: keyof typeof VERBS): Record<string, z.ZodType> {
  const { body, answer } = describeVerb(CODE_FLOWS[verb])
  return { ...(body && { [`${name}Body`]: body }), [`${name}Answer`]: answer }
}

function addScopes(paths: ZodOpenApiPathsObject): ZodOpenApiPathsObject {
  const addScope = (operation: ZodOpenApiOperationObject, scope: string): ZodOpenApiOperationObject => ({
    ...operation,
    description: [operation.description, `Needs an API key with the scope \`${scope}\`.`]
      .filter(Boolean)
      .join(' '),
    security: [{ apiKey: [scope] }],
  })
  return Object.fromEntries(
    Object.entries(paths).map(([path, { get, post, delete: remove, ...item }]) => {
      const scopeOperation = (operation: ZodOpenApiOperationObject | undefined) => {
        const scope = operation?.security?.length ? findScope(path) : undefined
        return operation && scope ? addScope(operation, scope) : operation
      }
      const operations = {
        get: scopeOperation(get),
        post: scopeOperation(post),
        delete: scopeOperation(remove),
      }
      const given = Object.entries(operations).filter(([, operation]) => operation !== undefined)
      return [path, { ...item, ...Object.fromEntries(given) }]
    }),
  )
}

/** The OpenAPI 3.1 document of the HTTP API, generated from the schemas that validate its requests. */
export function apiDocument(publicUrl?: string): ApiDocument {
  return createDocument(
    {
      openapi: '3.1.1',
      info: {
        title: 'Countersign MFA service',
        version: '1',
        description:
          'One-time codes by email, SMS, WhatsApp and call, authenticator apps, backup codes and transcription. Send parameters as JSON or as a form of at most 4 KB. Errors are `application/problem+json` (RFC 9457) with a stable `code`.',
        license: { name: 'MIT', identifier: 'MIT' },
      },
      // Relative to the document, so that it is correct wherever the API is mounted.
      servers: [{ url: publicUrl ?? './' }],
      tags: [
        { name: 'Second factor', description: 'Send and verify codes.' },
        {
          name: 'Security keys and passkeys',
          description: 'Register keys and check their responses (WebAuthn).',
        },
        { name: 'Personal data', description: 'List, export and erase what is stored about users.' },
        { name: 'Speech', description: 'Turn recordings into text.' },
        { name: 'Test', description: "For an application's own tests." },
        { name: 'Operation', description: 'For operators of the service.' },
        { name: 'Documents', description: 'Documentation of the service.' },
      ],
      paths: addScopes(OPERATIONS),
      components: {
        securitySchemes: {
          apiKey: {
            type: 'http',
            scheme: 'bearer',
            description: 'The API key of your application: `Authorization: Bearer <key>`.',
          },
        },
        parameters: {
          RequestId: {
            name: 'X-Request-Id',
            in: 'header',
            description: 'Your id for the request: 1 to 64 letters, digits, dots, dashes and underscores.',
            schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,64}$' },
          },
          IdempotencyKey: {
            name: 'Idempotency-Key',
            in: 'header',
            description:
              'A new random value for each action of a user. Within 24 hours, the same request with the same key runs only once.',
            schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,128}$' },
            example: '0d1c7b9e-5a9f-4c59-8a4b-0f6f4d2f9f7e',
          },
        },
        headers: HEADERS,
        schemas: {
          ...verbSchemas('Send', 'send'),
          ...verbSchemas('Verify', 'verify'),
          ...verbSchemas('EnrollApp', 'enrollApp'),
          ...verbSchemas('Backup', 'sendBackupCodes'),
          ...verbSchemas('Delivery', 'deliveryOf'),
          TranscribeBody: transcriptionWire.transcribeBody,
          TranscribeAnswer: transcriptionWire.transcribeAnswer,
          TranscriptionProgress: transcriptionWire.transcriptionProgress,
          TranscriptionJob: jobWire.transcriptionJobAnswer,
          Problem: serviceProblem,
        },
      },
    },
    {
      // Responses may get new members, so clients must accept members that they do not know.
      override: ({ jsonSchema, io }) => {
        if (io === 'output' && jsonSchema.additionalProperties === false)
          delete jsonSchema.additionalProperties
        // It says the same as contentEncoding, and is no format of JSON Schema.
        if (jsonSchema.format === 'base64') delete jsonSchema.format
      },
    },
  )
}

/** The document as text, as it is committed and served. */
export function documentText(document: ApiDocument): string {
  return `${JSON.stringify(document, null, 2)}\n`
}

const ACCOUNT_BODY = describeSchema(accountBody, {
  Account: ACCOUNT,
  User: {
    says: 'The contact of the account, if your requests about it have no `Account`.',
    examples: ['ann@example.com'],
  },
})

const USER_OPERATIONS: ZodOpenApiPathsObject = {
  '/v1/users': get({
    id: 'listUsers',
    summary: 'List accounts',
    tag: 'Personal data',
    key: true,
    parameters: [
      {
        name: 'limit',
        in: 'query',
        description: 'The maximum number of accounts on the page.',
        schema: { type: 'integer', minimum: 1, maximum: 1_000, default: 100 },
      },
      queryText('after', '`next` of the page before. Without it, the first page is returned.', 1_024),
    ],
    responses: {
      200: createKeyedResponse(
        'A page of the accounts of your application, with masked contacts.',
        usersAnswer,
      ),
    },
    problems: ['invalid_request'],
  }),
  '/v1/users/export': post({
    id: 'exportUser',
    summary: 'Export an account',
    description:
      'Returns everything that is stored about an account, without secrets and codes. The export is recorded in the audit log.',
    tag: 'Personal data',
    body: ACCOUNT_BODY,
    answer: accountExport,
    problems: ['not_found'],
  }),
  '/v1/users/erase': post({
    id: 'eraseUser',
    summary: 'Erase an account',
    description:
      'Deletes everything that is stored about an account in one transaction: authenticator app, backup codes, contacts, challenges, messages, counters, and also its lock and failures. The audit log keeps a keyed hash. It can be repeated. A later request with the same `Account` or `User` begins a new account.',
    tag: 'Personal data',
    body: ACCOUNT_BODY,
    answer: eraseAnswer,
    problems: [],
  }),
}

const html = { 'text/html': { schema: { type: 'string' as const } } }
const anyJson = { 'application/json': { schema: { type: 'object' as const } } }

const isLast = ({ verb }: VerbFlow) => verb === VERBS.deliveryOf

const OPERATIONS: ZodOpenApiPathsObject = {
  ...createOperations(VERB_FLOWS.filter((verb) => !isLast(verb))),
  ...createOperations(VERB_FLOWS.filter(isLast)),
  '/v1/reports/{provider}': {
    post: {
      operationId: 'receiveReports',
      summary: 'Receive delivery reports',
      description:
        'Status callbacks of Twilio, notifications of Amazon SES through Amazon SNS, and events of SendGrid, in the format of the provider and with its signature. Your application does not call it.',
      tags: ['Operation'],
      security: [],
      parameters: [
        {
          name: 'provider',
          in: 'path',
          required: true,
          schema: { type: 'string', enum: ['twilio', 'ses', 'sendgrid'] },
          example: 'twilio',
        },
      ],
      requestBody: { required: true, content: anyJson },
      responses: {
        204: { description: 'Success. Reports that are repeated or outdated change nothing.' },
        ...problemResponses([
          'invalid_request',
          'invalid_signature',
          'not_found',
          'body_too_large',
          'unsupported_media_type',
        ]),
      },
    },
  },
  [SERVICE_IDENTITY]: get({
    id: 'identify',
    summary: 'Identify the service',
    tag: 'Second factor',
    responses: openResponse(
      'This is the Countersign service, so a client can use its additions. Every response also has the header `Countersign-API`.',
      serviceIdentity,
    ),
  }),
  [API_KEY_INFO]: get({
    id: 'describeKey',
    summary: 'Say what the API key may do',
    tag: 'Second factor',
    key: true,
    responses: {
      200: createKeyedResponse(
        'The application, mode, scopes and expiry of the API key of this request. Every key may ask.',
        apiKeyInfo,
      ),
    },
  }),
  ...USER_OPERATIONS,
  ...SPEECH_OPERATIONS,
  '/v1/test/inbox': get({
    id: 'readInbox',
    summary: 'Read simulated messages',
    tag: 'Test',
    key: true,
    parameters: [queryText('to', 'Lists only the messages to this contact.', 320, 'ann@example.com')],
    responses: {
      200: createKeyedResponse(
        'The latest messages of the test key, or of the development inbox outside production, newest first.',
        inboxAnswer,
      ),
    },
    problems: ['invalid_request', 'not_found'],
  }),
  '/healthz': get({
    id: 'health',
    summary: 'Check whether the process is alive',
    tag: 'Operation',
    responses: openResponse('It is alive.', { type: 'object' }),
  }),
  '/readyz': get({
    id: 'readiness',
    summary: 'Check whether the service can accept requests',
    tag: 'Operation',
    responses: {
      ...openResponse('It can.', readiness),
      503: openResponse('It cannot; `checks` shows why.', readiness)[200],
    },
  }),
  '/metrics': get({
    id: 'metrics',
    summary: 'Read metrics for Prometheus',
    tag: 'Operation',
    responses: openResponse(
      'Requires the metrics key as a bearer token; if none is configured, only requests from the same machine are answered.',
      { type: 'string' },
      'text/plain',
    ),
    problems: ['invalid_api_key', 'not_found'],
  }),
  '/problems': get({
    id: 'listProblems',
    summary: 'List all problems',
    tag: 'Documents',
    responses: { 200: { description: 'A page, or JSON.', content: { ...anyJson, ...html } } },
  }),
  '/problems/{code}': get({
    id: 'showProblem',
    summary: 'Explain a problem',
    tag: 'Documents',
    parameters: [
      { name: 'code', in: 'path', required: true, schema: { type: 'string' }, example: 'invalid_code' },
    ],
    responses: { 200: { description: 'A page, or JSON.', content: { ...anyJson, ...html } } },
    problems: ['not_found'],
  }),
  '/openapi.json': get({
    id: 'document',
    summary: 'Get this document',
    tag: 'Documents',
    responses: openResponse(
      'OpenAPI 3.1.',
      { type: 'object' },
      'application/vnd.oai.openapi+json;version=3.1',
    ),
  }),
  '/asyncapi.json': get({
    id: 'streamDocument',
    summary: 'Get the document of transcription streams',
    tag: 'Documents',
    responses: openResponse(
      'AsyncAPI 3.0.',
      { type: 'object' },
      'application/vnd.aai.asyncapi+json;version=3.0.0',
    ),
  }),
}
