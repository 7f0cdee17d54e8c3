import { Validator } from '@seriousme/openapi-schema-validator'
import { SCOPES, SERVICE_PROBLEMS } from 'countersign/protocol'
import { transcriptionWire } from 'countersign/speech'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { describeVerb } from '../src/api/http/openapi/described.js'
import { type ApiDocument, apiDocument, documentText } from '../src/api/http/openapi/document.js'
import { VERB_FLOWS } from '../src/flows/verb-flows.js'
import { html } from '../src/html.js'
import { apiOver } from './api-kit.js'
import { entriesOf, resolve } from './document-parts.js'
import { type Bench, freshTenant, listen, openBench } from './kit.js'

const document: ApiDocument = apiDocument()

/** Every operation, with its references resolved. */
const operations = entriesOf(document.paths).flatMap(([path, item]) =>
  entriesOf(item).map(([method, operation]) => ({ path, method, operation: resolve(document, operation) })),
)

describe('the OpenAPI document', () => {
  test('is the committed one; `npm run generate` regenerates it', async () => {
    await expect(documentText(document)).toMatchFileSnapshot('../openapi.json')
  })

  test('is valid OpenAPI 3.1', async () => {
    const validator = new Validator()
    const result = await validator.validate(JSON.parse(documentText(document)))
    expect(result).toMatchObject({ valid: true })
    expect(validator.version).toBe('3.1')
    const broken = structuredClone(JSON.parse(documentText(document)))
    broken.paths['/v1/mfa'].post.responses = 5
    expect(await new Validator().validate(broken)).toMatchObject({ valid: false })
  })

  test('says of every operation that the service can be unavailable', () => {
    expect(operations.length).toBeGreaterThan(30)
    for (const { operation } of operations) {
      expect([operation.operationId, entriesOf(operation.responses).map(([status]) => status)]).toEqual([
        operation.operationId,
        expect.arrayContaining(['503']),
      ])
    }
  })

  test('has no dangling references', () => {
    const references = [...documentText(document).matchAll(/"\$ref": "([^"]+)"/g)].map(([, to = '']) => to)
    expect(references.length).toBeGreaterThan(20)
    for (const to of references)
      expect([to, entriesOf(resolve(document, { $ref: to })).length > 0]).toEqual([to, true])
  })

  test('describes the API key of every call, and its parameters as JSON and as a form', () => {
    const calls = operations.filter(
      ({ method, operation }) => method === 'post' && operation.operationId !== 'receiveReports',
    )
    expect(calls.length).toBeGreaterThan(3)
    for (const { operation } of calls) {
      expect(operation.security).toEqual([{ apiKey: [expect.stringMatching(/^[a-z-]+$/)] }])
      // A ticket needs no parameters.
      if (operation.operationId === 'createStreamTicket') continue
      const types = entriesOf(resolve(document, operation.requestBody).content).map(([type]) => type)
      const takesFile = ['transcribe', 'createTranscriptionJob'].includes(String(operation.operationId))
        ? ['multipart/form-data']
        : []
      expect(types).toEqual(['application/json', 'application/x-www-form-urlencoded', ...takesFile])
    }
  })

  test('describes every problem, and Retry-After wherever the caller must wait', () => {
    const codes = operations.flatMap(({ operation }) =>
      entriesOf(operation.responses).flatMap(([status, response]) => {
        const { content, headers } = resolve(document, response)
        if (status === '429' || status === '409') {
          expect(entriesOf(headers).map(([name]) => name)).toContain('Retry-After')
        }
        return entriesOf(content)
          .filter(([type]) => type === 'application/problem+json')
          .flatMap(([, media]) => entriesOf(resolve(document, media).examples).map(([code]) => code))
      }),
    )
    expect([...new Set(codes)].sort()).toEqual([...SERVICE_PROBLEMS].sort())
  })

  test('uses only formats of JSON Schema', () => {
    const formats = [...documentText(document).matchAll(/"format": "([^"]+)"/g)].map(([, format]) => format)
    expect([...new Set(formats)].sort()).toEqual(['date-time', 'ipv4', 'ipv6'])
  })

  test('has examples that its own schemas accept', () => {
    const bodies = VERB_FLOWS.flatMap((verb) => describeVerb(verb).body ?? [])
    expect(bodies.length).toBeGreaterThan(10)
    for (const body of [...bodies, transcriptionWire.transcribeBody]) {
      const shape: Readonly<Record<string, z.ZodType>> = body instanceof z.ZodObject ? body.shape : {}
      expect(Object.values(shape).some((schema) => schema.meta()?.examples)).toBe(true)
      for (const [name, schema] of Object.entries(shape)) {
        const examples: unknown = schema.meta()?.examples
        for (const example of Array.isArray(examples) ? examples : []) {
          expect([name, example, schema.safeParse(example).success]).toEqual([name, example, true])
        }
      }
    }
  })
})

describe('the service', () => {
  let bench: Bench
  let server: Awaited<ReturnType<typeof listen>>
  const api = () => apiOver(bench.context, freshTenant(bench).application)
  beforeAll(async () => {
    bench = await openBench()
    server = await listen(api())
  })
  afterAll(async () => {
    await server.close()
    await bench.close()
  })

  test('has the routes of the document, and no others', () => {
    const stack: readonly { readonly route?: { readonly path: string } }[] = api().router.stack
    const routes = stack.flatMap(({ route }) => (route ? [route.path.replace(/:(\w+)/g, '{$1}')] : []))
    expect([...new Set(routes)].sort()).toEqual(Object.keys(document.paths ?? {}).sort())
  })

  test('answers a key without scopes, a wrong type and a large body with statuses of the document', async () => {
    const { application } = freshTenant(bench)
    const findCaller = async () => ({ application, scopes: allowed, key: 'key-of-tests', expiresAt: null })
    let allowed: (typeof SCOPES)[number][] = []
    const own = await listen(apiOver(bench.context, application, { findCaller }))
    const statusOf = async (path: string, headers: Record<string, string> = {}, body = '') =>
      (await fetch(own.url + path, { method: 'POST', body, headers })).status
    const gzip = { 'content-encoding': 'gzip', 'content-type': 'application/json' }
    try {
      for (const { path, method, operation } of operations) {
        if (method !== 'post') continue
        const known = entriesOf(operation.responses).map(([status]) => Number(status))
        const real = path.replace('{provider}', 'twilio')
        const isOfKey = entriesOf(operation.security).length > 0
        allowed = []
        const statuses = isOfKey ? [await statusOf(real)] : []
        allowed = [...SCOPES]
        statuses.push(await statusOf(real, gzip, 'x'), await statusOf(real, {}, 'x'.repeat(2_000_000)))
        expect([path, statuses.filter((status) => !known.includes(status))]).toEqual([path, []])
        if (isOfKey) expect([path, statuses[0]]).toEqual([path, 403])
      }
    } finally {
      await own.close()
    }
  })

  test('serves the document to programs', async () => {
    const response = await fetch(`${server.url}/openapi.json`)
    expect(response.headers.get('content-type')).toContain('application/vnd.oai.openapi+json')
    expect(await response.json()).toEqual(JSON.parse(documentText(document)))
  })

  test('shows its address only if the operator configured it (R16)', () => {
    expect(document.servers).toEqual([{ url: './' }])
    expect(apiDocument('https://mfa.example').servers).toEqual([{ url: 'https://mfa.example' }])
  })

  test('explains every problem on a page without scripts or dead links', async () => {
    const headers = { accept: 'text/html' }
    const seen = new Set<string>()
    for (const path of ['/problems', ...SERVICE_PROBLEMS.map((code) => `/problems/${code}`)]) {
      const response = await fetch(server.url + path, { headers })
      const page = await response.text()
      expect(response.headers.get('content-security-policy')).toMatch(
        /^default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
      )
      expect(page).not.toMatch(/<script|\son\w+=|(?:src|href|action)="https?:/i)
      for (const [, href = ''] of page.matchAll(/href="([^"]+)"/g)) seen.add(href)
    }
    expect(seen.size).toBe(SERVICE_PROBLEMS.length + 2)
    for (const href of seen) expect([href, (await fetch(server.url + href)).status]).toEqual([href, 200])
  })

  test("escapes the page's content", () => {
    expect(html`<p>${`<b>"&'`}</p>`.markup).toBe('<p>&#60;b&#62;&#34;&#38;&#39;</p>')
  })
})
