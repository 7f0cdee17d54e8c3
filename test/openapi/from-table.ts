import * as z from 'zod'
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from 'zod-openapi'
import type { ProblemCode } from '../../src/pages/view.js'
import * as answers from '../../src/routes/answers.js'
import * as bodies from '../../src/routes/bodies.js'
import { getAnswer, listProblems, listRoutes, type Operation, type Part } from '../../src/routes/routes.js'
import { getStatus, getTitle } from '../../src/web/http/problem.js'

const wire = { ...answers, ...bodies }

const TAGS: Readonly<Record<Part, string>> = {
  challengeRouter: 'Second factor',
  verifyRouter: 'Second factor',
  enrollAppRouter: 'Factors',
  enrollKeyRouter: 'Factors',
  backupRouter: 'Factors',
  devicesRouter: 'Trusted devices',
  recoveryRouter: 'Recovery',
  notMeRouter: 'Notices',
  languageRouter: 'Pages',
}

const PAGE = { 'text/html': { schema: { type: 'string' } } } as const

function documentOf(operation: Operation, tag: string): ZodOpenApiOperationObject {
  const { name, method, path, summary, description, parameter, body = z.object({}) } = operation
  const answer = getAnswer(operation)
  const parameters = Object.entries(parameter?.shape ?? {}).map(([field, schema]) => ({
    name: field,
    in: path.includes(':') ? ('path' as const) : ('query' as const),
    required: true,
    description: z.globalRegistry.get(schema)?.description ?? '',
    schema: { type: 'string' as const },
  }))
  return {
    operationId: name,
    summary,
    ...(description && { description }),
    tags: [tag],
    ...(parameters.length > 0 && { parameters }),
    ...(method === 'POST' && {
      requestBody: {
        content: {
          'application/json': { schema: body },
          'application/x-www-form-urlencoded': { schema: body },
        },
      },
    }),
    responses: {
      200: {
        description: answer ? 'Success. A browser gets a page, or a redirect (303).' : 'A page.',
        content: answer ? { 'application/json': { schema: answer }, ...PAGE } : PAGE,
      },
      ...problemResponses(operation),
    },
  }
}

/** One response for each status, with an example for each code that it can have. */
function problemResponses(operation: Operation): ZodOpenApiOperationObject['responses'] {
  const problems = listProblems(operation)
  const all = [...problems].sort()
  // An invalid response of the service is reported with 502.
  const asksService = problems.has('service_misconfigured')
  const isAt = (code: ProblemCode, status: number) =>
    getStatus(code) === status || (status === 502 && asksService && code.endsWith('_unavailable'))
  const statuses = new Set([...all.map((code) => getStatus(code)), ...(asksService ? [502] : [])])
  return Object.fromEntries(
    [...statuses].map((status) => {
      const own = all.filter((code) => isAt(code, status))
      return [
        String(status),
        {
          description: own.map(getTitle).join(' '),
          ...(status === 429 && {
            headers: {
              'Retry-After': {
                description: 'Seconds to wait.',
                schema: { type: 'integer' as const, minimum: 1 },
              },
            },
          }),
          content: {
            'application/problem+json': {
              schema: wire.problemAnswer,
              examples: Object.fromEntries(
                own.map((code) => [
                  code,
                  { value: { type: `urn:countersign:problem:${code}`, title: getTitle(code), status, code } },
                ]),
              ),
            },
          },
        },
      ]
    }),
  )
}

/** Every path below the one at which `mfaRouter` is mounted. */
function pathItems(): ZodOpenApiPathsObject {
  const items: Record<string, Record<string, ZodOpenApiOperationObject>> = {}
  for (const [part, tag] of Object.entries(TAGS) as [Part, string][]) {
    for (const operation of listRoutes([part])) {
      const path = operation.path.replace(/:(\w+)/, '{$1}')
      items[path] = { ...items[path], [operation.method.toLowerCase()]: documentOf(operation, tag) }
    }
  }
  return items
}

/** The OpenAPI 3.1 document of the plugin's routes, made from their table. */
export const openApi = createDocument(
  {
    openapi: '3.1.1',
    info: {
      title: 'Countersign: the routes of the plugin',
      version: '1',
      description:
        'Paths are relative to the path at which `mfaRouter` is mounted, `/mfa` by default. Send `Accept: application/json`; bodies are JSON or forms of at most 4 KB. The session cookie of the app identifies the user; an app with tokens takes `MFA-Login`, an access token, or both. A response that is not a success is `application/problem+json` (RFC 9457) with a stable `code`. The routes of trusted devices exist with the option `trustedDevices`, those of notices with links in notices.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/mfa' }],
    tags: [...new Set(Object.values(TAGS))].map((name) => ({ name })),
    paths: pathItems(),
    security: [{}, { login: [] }, { token: [] }, { login: [], token: [] }],
    components: {
      securitySchemes: {
        login: {
          type: 'apiKey',
          in: 'header',
          name: 'MFA-Login',
          description:
            'With the option `tokens`: the `login` of an answer. A pending login needs nothing else; a step-up needs the access token, too.',
        },
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'With the option `tokens`: an access token of the app.',
        },
      },
      schemas: {
        MfaState: wire.mfaState,
        Factor: wire.factorAnswer,
        ChallengeBody: wire.challengeBody,
        Challenged: wire.challengedAnswer,
        Verified: wire.verifiedAnswer,
        Approved: wire.approvedAnswer,
        Canceled: wire.canceledAnswer,
        Prepared: wire.preparedAnswer,
        ConfirmBody: wire.confirmBody,
        Enrolled: wire.enrolledAnswer,
        BackupSent: wire.backupSentAnswer,
        BackupCreated: wire.backupCreatedAnswer,
        Keys: wire.keysAnswer,
        KeyOptionsBody: wire.keyOptionsBody,
        KeyOptions: wire.keyOptionsAnswer,
        AddKeyBody: wire.addKeyBody,
        KeyAdded: wire.keyAddedAnswer,
        RenameKeyBody: wire.renameKeyBody,
        KeyRenamed: wire.keyRenamedAnswer,
        RemoveKeyBody: wire.removeKeyBody,
        Removed: wire.removedAnswer,
        Devices: wire.devicesAnswer,
        RevokeBody: wire.revokeBody,
        Revoked: wire.revokedAnswer,
        LinkBody: wire.linkBody,
        NotMe: wire.notMeAnswer,
        Problem: wire.problemAnswer,
      },
    },
  },
  {
    // Later releases may add properties, which a client must ignore.
    override: ({ jsonSchema, io }) => {
      if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
    },
  },
)
