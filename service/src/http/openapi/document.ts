import { jobWire, transcriptionWire, wire } from 'countersign/protocol'
import { createDocument, type oas31 } from 'zod-openapi'
import { HEADERS } from './headers.js'
import { OPERATIONS } from './operations.js'

export type ApiDocument = oas31.OpenAPIObject

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
      paths: OPERATIONS,
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
          SendBody: wire.sendBody,
          SendAnswer: wire.sendAnswer,
          VerifyBody: wire.verifyBody,
          VerifyAnswer: wire.verifyAnswer,
          EnrollAppBody: wire.enrollAppBody,
          EnrollAppAnswer: wire.enrollAppAnswer,
          BackupBody: wire.backupBody,
          BackupAnswer: wire.backupAnswer,
          DeliveryAnswer: wire.deliveryAnswer,
          TranscribeBody: transcriptionWire.transcribeBody,
          TranscribeAnswer: transcriptionWire.transcribeAnswer,
          TranscriptionProgress: transcriptionWire.transcriptionProgress,
          TranscriptionJob: jobWire.transcriptionJobAnswer,
          Problem: wire.serviceProblem,
        },
      },
    },
    {
      // Responses may get new members, so clients must accept members that they do not know.
      override: ({ jsonSchema, io }) => {
        if (io === 'output' && jsonSchema.additionalProperties === false)
          delete jsonSchema.additionalProperties
      },
    },
  )
}

/** The document as text, as it is committed and served. */
export function documentText(document: ApiDocument): string {
  return `${JSON.stringify(document, null, 2)}\n`
}

type Node = Readonly<Record<string, unknown>>

/** The members of a part of the document, with a `$ref` resolved; empty if the part is not an object. */
export function resolve(document: ApiDocument, part: unknown): Node {
  if (!isNode(part)) return {}
  if (typeof part.$ref !== 'string') return part
  const names = part.$ref.replace(/^#\//, '').split('/')
  return resolve(
    document,
    names.reduce<unknown>((node, name) => (isNode(node) ? node[name] : undefined), document),
  )
}

/** The members of an object, with their names. */
export function entriesOf(part: unknown): [string, unknown][] {
  return isNode(part) ? Object.entries(part) : []
}

/** The strings in a list. */
export function textsOf(part: unknown): string[] {
  return Array.isArray(part) ? part.map(String) : []
}

/** A valid value of a schema: its first example, as JSON if it is an object, or the first value of its enum. */
export function exampleOf(schema: unknown): string {
  const members = new Map(entriesOf(schema))
  const examples = members.get('examples')
  const [example]: unknown[] = Array.isArray(examples) ? examples : []
  if (isNode(example)) return JSON.stringify(example)
  return textsOf(examples)[0] ?? textsOf(members.get('enum'))[0] ?? ''
}

function isNode(part: unknown): part is Node {
  return typeof part === 'object' && part !== null && !Array.isArray(part)
}
