import { VERBS, wire } from 'countersign/protocol'
import type { ZodOpenApiPathsObject } from 'zod-openapi'
import { header } from './headers.js'
import { KEY_OPERATIONS } from './key-operations.js'
import { get, verbPost } from './operation.js'
import { problemResponses } from './problems.js'
import { inboxAnswer, readiness } from './service-schemas.js'
import { SPEECH_OPERATIONS } from './speech-operations.js'
import { USER_OPERATIONS } from './user-operations.js'

const html = { 'text/html': { schema: { type: 'string' as const } } }
const anyJson = { 'application/json': { schema: { type: 'object' as const } } }

/** All operations of the service, by path. */
export const OPERATIONS: ZodOpenApiPathsObject = {
  ...verbPost(VERBS.send, {
    id: 'send',
    summary: 'Send a code',
    description:
      'Creates a code and sends it, or sends the code of an active challenge again. The response waits at most three seconds for the delivery.',
  }),
  ...verbPost(VERBS.verify, {
    id: 'verify',
    summary: 'Verify a code',
    description:
      'Checks a code and uses it up. Wrong, expired, used and unknown codes get the same response, 401 `invalid_code`.',
  }),
  ...verbPost(VERBS.enrollApp, {
    id: 'enrollApp',
    summary: 'Set up an authenticator app',
    description:
      'Creates a secret for an authenticator app. It proves nothing until its first valid code was verified; until then, a former app stays valid.',
  }),
  ...verbPost(VERBS.sendBackupCodes, {
    id: 'sendBackupCodes',
    summary: 'Send backup codes',
    description: 'Creates a set of backup codes and sends them to the user. Each code can be used once.',
  }),
  ...verbPost(VERBS.factorsOf, {
    id: 'readFactors',
    summary: 'Get the factors of an account',
    description:
      'Says whether the account has an authenticator app, how many backup codes are left, and when factors were last used. It changes nothing and sends nothing.',
  }),
  ...verbPost(VERBS.removeFactor, {
    id: 'removeFactor',
    summary: 'Remove a factor',
    description:
      'Removes the authenticator app of an account, or all its backup codes, and notifies every proven contact. Ask for it only after a second factor was shown that is as strong as the strongest one of the account.',
  }),
  ...verbPost(VERBS.createBackupCodes, {
    id: 'createBackupCodes',
    summary: 'Create backup codes to show once',
    description:
      'Creates a set of backup codes and returns it, for a page that shows it once. It replaces all earlier codes at once, and is valid for the account with every contact. Each code can be used once. Ask for it only after a second factor was shown that is as strong as the strongest one of the account. The response is not kept, so a request that is sent again creates another set.',
  }),
  ...KEY_OPERATIONS,
  '/v1/mfa/deliveries/{challenge}': get({
    id: 'readDelivery',
    summary: 'Get the delivery state of a message',
    tag: 'Second factor',
    key: true,
    parameters: [
      {
        name: 'challenge',
        in: 'path',
        required: true,
        description: 'The challenge in the response of `/v1/mfa`.',
        schema: { type: 'string', maxLength: 128 },
        example: '3p_W79o5l64pvICP53C_rw',
      },
    ],
    responses: {
      200: {
        description: 'The delivery state of the latest message of the challenge.',
        headers: { 'X-Request-Id': header('RequestId') },
        content: { 'application/json': { schema: wire.deliveryAnswer } },
      },
    },
    problems: ['not_found'],
  }),
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
          'unavailable',
        ]),
      },
    },
  },
  [wire.SERVICE_IDENTITY]: get({
    id: 'identify',
    summary: 'Identify the service',
    tag: 'Second factor',
    responses: {
      200: {
        description:
          'This is the Countersign service, so a client can use its additions. Every response also has the header `Countersign-API`.',
        content: { 'application/json': { schema: wire.serviceIdentity } },
      },
    },
  }),
  ...USER_OPERATIONS,
  ...SPEECH_OPERATIONS,
  '/v1/test/inbox': get({
    id: 'readInbox',
    summary: 'Read simulated messages',
    tag: 'Test',
    key: true,
    parameters: [
      {
        name: 'to',
        in: 'query',
        description: 'Lists only the messages to this contact.',
        schema: { type: 'string', maxLength: 320 },
        example: 'ann@example.com',
      },
    ],
    responses: {
      200: {
        description:
          'The latest messages of the test key, or of the development inbox outside production, newest first.',
        headers: { 'X-Request-Id': header('RequestId') },
        content: { 'application/json': { schema: inboxAnswer } },
      },
    },
    problems: ['invalid_request', 'not_found'],
  }),
  '/healthz': get({
    id: 'health',
    summary: 'Check whether the process is alive',
    tag: 'Operation',
    responses: { 200: { description: 'It is alive.', content: anyJson } },
  }),
  '/readyz': get({
    id: 'readiness',
    summary: 'Check whether the service can accept requests',
    tag: 'Operation',
    responses: {
      200: { description: 'It can.', content: { 'application/json': { schema: readiness } } },
      503: {
        description: 'It cannot; `checks` shows why.',
        content: { 'application/json': { schema: readiness } },
      },
    },
  }),
  '/metrics': get({
    id: 'metrics',
    summary: 'Read metrics for Prometheus',
    tag: 'Operation',
    responses: {
      200: {
        description:
          'Requires the metrics key as a bearer token; if none is configured, only requests from the same machine are answered.',
        content: { 'text/plain': { schema: { type: 'string' } } },
      },
    },
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
    responses: {
      200: {
        description: 'OpenAPI 3.1.',
        content: { 'application/vnd.oai.openapi+json;version=3.1': { schema: { type: 'object' } } },
      },
    },
  }),
  '/asyncapi.json': get({
    id: 'streamDocument',
    summary: 'Get the document of transcription streams',
    tag: 'Documents',
    responses: {
      200: {
        description: 'AsyncAPI 3.0.',
        content: { 'application/vnd.aai.asyncapi+json;version=3.0.0': { schema: { type: 'object' } } },
      },
    },
  }),
  '/docs': get({
    id: 'docs',
    summary: 'Read this document as a page',
    tag: 'Documents',
    responses: { 200: { description: 'A page.', content: html } },
  }),
}
