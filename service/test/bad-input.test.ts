import { once } from 'node:events'
import { connect, type LookupFunction } from 'node:net'
import { availableParallelism } from 'node:os'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { anyText } from '../../test/kit/any-text.js'
import { everyCase } from '../../test/kit/every-case.js'
import { listenOnLoopback } from '../../test/kit/loopback.js'
import { apiDocument } from '../src/api/http/openapi/document.js'
import { apiServer } from '../src/api/http/server.js'
import { storedInbox } from '../src/messages/carriers/inbox.js'
import type { Transcriber } from '../src/transcription/engines/transcriber.js'
import { type TranscriptionJobs, transcriptionJobs } from '../src/transcription/jobs/transcription-jobs.js'
import { createLiveTranscription } from '../src/transcription/live/live-transcription.js'
import { createTranscription } from '../src/transcription/transcription.js'
import { apiOver } from './api-kit.js'
import { entriesOf, exampleOf, resolve, textsOf } from './document-parts.js'
import { API_KEY, type Bench, freshTenant, openBench } from './kit.js'
import { RELYING_PARTY } from './software-key.js'
import { fakeEngine } from './stream-service.js'

/*
 * The invalid input is derived from the OpenAPI document, which is generated from the schemas, so that new fields are
 * tested automatically.
 */

const document = apiDocument()

interface Field {
  readonly name: string
  readonly required: boolean
  readonly words: readonly string[]
  readonly maxLength: number | undefined
}

interface Call {
  readonly path: string
  readonly fields: readonly Field[]
  /** Valid parameters for every field. */
  readonly good: Readonly<Record<string, string>>
  /** The content types that it accepts. */
  readonly types: readonly string[]
}

const calls: readonly Call[] = entriesOf(document.paths).flatMap(([path, item]) =>
  entriesOf(item).flatMap(([method, operation]) => {
    // Delivery reports have the bodies of the providers, which `delivery/reports.test.ts` makes invalid.
    if (method !== 'post' || path.startsWith('/v1/reports/')) return []
    const content = entriesOf(resolve(document, resolve(document, operation).requestBody).content)
    const json = content.find(([type]) => type === 'application/json')?.[1]
    const body = resolve(document, resolve(document, json).schema)
    const fields = entriesOf(body.properties).map(([name, schema]) => {
      const { maxLength, enum: words } = resolve(document, schema)
      return {
        name,
        required: textsOf(body.required).includes(name),
        words: textsOf(words),
        maxLength: typeof maxLength === 'number' ? maxLength : undefined,
      }
    })
    // An approval belongs to a purpose of its own.
    const members = entriesOf(body.properties).filter(([name]) => name !== 'Approval')
    const good = Object.fromEntries(members.map(([name, schema]) => [name, exampleOf(schema)]))
    return [{ path, fields, good, types: content.map(([type]) => type) }]
  }),
)

let bench: Bench
let jobs: TranscriptionJobs
let server: ReturnType<typeof apiServer>
let url: string
let port: number
beforeAll(async () => {
  bench = await openBench()
  const inbox = storedInbox(bench.store, bench.context.keys)
  const transcriber: Transcriber = {
    givesTimes: true,
    name: 'none',
    transcribe: () => expect.fail('nothing is to be heard here'),
  }
  // No name resolves.
  const lookup: LookupFunction = (_name, _options, done) => done(new Error('no such host'), [])
  const transcription = createTranscription({
    transcriber,
    fetchOptions: { hosts: [], lookup },
    log: bench.context.log,
    maxConcurrent: availableParallelism(),
  })
  // Jobs that never run, so that the store stays as it is.
  jobs = transcriptionJobs({ ...bench.context, transcription, maxConcurrent: 0 })
  const live = createLiveTranscription({ engine: fakeEngine().engine, maxStreams: 1, log: bench.context.log })
  server = apiServer(
    apiOver(
      { ...bench.context, transcription, jobs, live },
      freshTenant(bench, { relyingParty: RELYING_PARTY }).application,
      {
        inboxes: { test: inbox, live: inbox },
      },
    ),
  )
  port = await listenOnLoopback(server)
  url = `http://127.0.0.1:${port}`
})
afterAll(async () => {
  const alive = await fetch(`${url}/healthz`)
  server.close()
  server.closeAllConnections()
  await jobs.close()
  await bench.close()
  expect(alive.status).toBe(200)
})

const bearer = { authorization: `Bearer ${API_KEY}` }
const JSON_TYPE = 'application/json'
const FORM_TYPE = 'application/x-www-form-urlencoded'

interface Answer {
  readonly status: number
  readonly type: string
  readonly code: string | undefined
  readonly fields: readonly string[]
}

async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text()
  const type = response.headers.get('content-type') ?? ''
  const body: unknown = type.includes('json') ? JSON.parse(text) : {}
  const { code, errors } = body as { code?: string; errors?: { field: string }[] }
  return { status: response.status, type, code, fields: (errors ?? []).map(({ field }) => field) }
}

async function post(path: string, type: string, body: BodyInit): Promise<Answer> {
  const request: RequestInit & { duplex: 'half' } = {
    method: 'POST',
    headers: { ...bearer, 'content-type': type },
    body,
    duplex: 'half',
  }
  return answerOf(await fetch(url + path, request))
}

/** The number of rows in each table that has pages, and their content. A process writes its leases without a request. */
async function rows() {
  const tables = await bench.store.query<{ name: string; has_pages: boolean }>(
    `SELECT relname AS name, pg_relation_size(oid) > 0 AS has_pages FROM pg_class
     WHERE relnamespace = '${bench.store.schema}'::regnamespace AND relkind = 'r' AND relname <> 'lease' ORDER BY 1`,
  )
  expect(tables.length).toBeGreaterThan(10)
  const each = tables
    .filter((table) => table.has_pages)
    .map(
      ({ name }) =>
        `SELECT '${name}' AS name, count(*)::int AS count, md5(string_agg(t::text, ',' ORDER BY t::text)) AS content FROM ${bench.store.schema}."${name}" AS t`,
    )
  return bench.store.query(each.join(' UNION ALL '))
}

/** Runs requests that must not change the store. */
async function storingNothing(work: () => Promise<void>): Promise<void> {
  // The counts of earlier requests are written now, and not in between.
  await bench.context.activity.flush()
  const before = await rows()
  await work()
  await bench.context.activity.flush()
  expect(await rows()).toEqual(before)
}

const expectRefused = (what: unknown, answer: Answer, field: string) => {
  // Of an object, a member is named.
  const isNamed = answer.fields.some((one) => one === field || one.startsWith(`${field}.`))
  expect({ what, ...answer, fields: isNamed }).toMatchObject({
    what,
    status: 400,
    code: 'invalid_request',
    fields: true,
    type: expect.stringContaining('application/problem+json'),
  })
}

const EXPECTED: Readonly<Record<string, readonly [number, string | undefined]>> = {
  '/v1/mfa/verify': [401, 'invalid_code'],
  '/v1/mfa/keys/registration/verify': [401, 'invalid_key'],
  '/v1/mfa/keys/authentication/verify': [401, 'invalid_key'],
  '/v1/transcribe': [422, 'fetch_failed'],
  '/v1/transcribe/jobs': [202, undefined],
}

test('the document has operations to test, with valid examples', async () => {
  expect(calls.length).toBeGreaterThan(3)
  for (const { path, good } of calls) {
    const { status, code } = await post(path, JSON_TYPE, JSON.stringify(good))
    // No code was sent that could be valid, and the address of the recording does not resolve.
    expect([path, status, code]).toEqual([path, ...(EXPECTED[path] ?? [200, undefined])])
  }
})

const MULTIPART = 'multipart/form-data'

function otherCase(name: string): string {
  return name === name.toLowerCase() ? name.toUpperCase() : name.toLowerCase()
}

function formOf(...parts: readonly (readonly [name: string, value: string | Blob])[]): FormData {
  const form = new FormData()
  for (const [name, value] of parts) form.append(name, value)
  return form
}

/** The parameters outside of bodies in the document. */
function parametersIn(place: 'query' | 'header' | 'path') {
  return entriesOf(document.paths).flatMap(([path, item]) =>
    entriesOf(item).flatMap(([method, operation]) =>
      Object.values(resolve(document, operation).parameters ?? [])
        .map((parameter) => resolve(document, parameter))
        .filter((parameter) => parameter.in === place)
        .map((parameter) => {
          const { maxLength } = resolve(document, parameter.schema)
          return {
            method: method.toUpperCase(),
            path,
            name: String(parameter.name),
            maxLength: typeof maxLength === 'number' ? maxLength : undefined,
          }
        }),
    ),
  )
}

describe('an invalid field is named, and nothing is stored (R81, R82, R83)', () => {
  const deep = `${'['.repeat(500)}${']'.repeat(500)}`

  /** JSON of values that are invalid for every field. */
  const wrongFor = ({ name, maxLength, words }: Field): string[] => [
    ...['0', '5', '-1', '1e400', '123456789012345678901234567890', 'true', 'false', 'null'],
    // Of a sign-in, nothing may be known.
    ...(name === 'SignIn' ? [] : ['{}']),
    ...['[]', '["a@example.com"]', '{"$ne":null}', '{"__proto__":{"x":1}}', deep],
    ...[
      '""',
      '"\\u0000"',
      '"a\\u0000b"',
      '"a\\r\\nBcc: b@example.com"',
      '"\\u001b[31m"',
      '"\\u0085"',
      '"\\u007f"',
    ],
    ...['"\\ud800"', '"\\udc00a"', '"\\ufffd"'],
    JSON.stringify('x'.repeat((maxLength ?? 64) + 1)),
    ...(words.length > 0
      ? ['"NONE"', '"email"', '" EMAIL"', '"ＥＭＡＩＬ"', '"__proto__"', '"constructor"']
      : []),
  ]

  const signature = ({ name, maxLength, words }: Field) => JSON.stringify([name, maxLength, words])

  /**
   * All values at the first operation that has such a field, and every fifth at each other one: so each value meets each kind of
   * field, and each field of each operation meets several.
   */
  function sampleOf(call: Call, field: Field, values: readonly string[]): string[] {
    const having = calls.filter(({ fields }) => fields.some((one) => signature(one) === signature(field)))
    const place = having.indexOf(call)
    return values.filter((_, nth) => place === 0 || nth % 5 === place % 5)
  }

  const withFields = calls.filter(({ fields }) => fields.length > 0)
  test.each(withFields)('as JSON at $path', (call) =>
    storingNothing(() =>
      everyCase(call.fields, async (field) => {
        for (const wrong of sampleOf(call, field, wrongFor(field))) {
          const others = Object.entries(call.good).filter(([name]) => name !== field.name)
          const members = [
            ...others.map(([name, value]) => `"${name}":${JSON.stringify(value)}`),
            `"${field.name}":${wrong}`,
          ]
          expectRefused(wrong, await post(call.path, JSON_TYPE, `{${members.join(',')}}`), field.name)
        }
        const twice = `{"${field.name}":"a",${JSON.stringify(call.good).slice(1)}`
        expectRefused('twice', await post(call.path, JSON_TYPE, twice), field.name)
        const escaped = twice.replace(
          `"${field.name}"`,
          `"\\u00${field.name.charCodeAt(0).toString(16)}${field.name.slice(1)}"`,
        )
        expectRefused('twice, once with escapes', await post(call.path, JSON_TYPE, escaped), field.name)
      }),
    ),
  )

  test.each(withFields)('as a form at $path', (call) =>
    storingNothing(() =>
      everyCase(call.fields, async (field) => {
        const others = Object.fromEntries(Object.entries(call.good).filter(([name]) => name !== field.name))
        const rest = new URLSearchParams(others).toString()
        const value = encodeURIComponent(call.good[field.name] ?? '')
        const values = [
          `${field.name}=`,
          `${field.name}`,
          `${field.name}=%00`,
          `${field.name}=a%0d%0ab`,
          `${field.name}=%E0%A4%A`,
          `${field.name}=%FF%FE`,
          `${field.name}=${'x'.repeat((field.maxLength ?? 64) + 1)}`,
          `${field.name}=${value}&${field.name}=${value}`,
          `${field.name}=${value}&${field.name}=other`,
        ]
        for (const wrong of sampleOf(call, field, values)) {
          expectRefused(wrong, await post(call.path, FORM_TYPE, `${wrong}&${rest}`), field.name)
        }
      }),
    ),
  )

  const requiring = calls.filter(({ fields }) => fields.some(({ required }) => required))
  test.each(requiring)('when it is missing at $path', (call) =>
    storingNothing(() =>
      everyCase(
        call.fields.filter(({ required }) => required),
        async (field) => {
          const others = Object.fromEntries(Object.entries(call.good).filter(([name]) => name !== field.name))
          const nested = { ...others, [`${field.name}[a]`]: 'x', [otherCase(field.name)]: 'x' }
          for (const [type, body] of [
            [JSON_TYPE, JSON.stringify(others)],
            [JSON_TYPE, JSON.stringify(nested)],
            [JSON_TYPE, JSON.stringify({ ...others, x: call.good }).replace('"x"', '"__proto__"')],
            [JSON_TYPE, JSON.stringify({ ...others, constructor: { prototype: call.good } })],
            [FORM_TYPE, new URLSearchParams(others).toString()],
            [FORM_TYPE, new URLSearchParams(nested).toString()],
            [FORM_TYPE, ''],
          ] as const) {
            expectRefused(body, await post(call.path, type, body), field.name)
          }
        },
      ),
    ),
  )

  test('in a query', () =>
    storingNothing(() =>
      everyCase(parametersIn('query'), async ({ path, name, maxLength }) => {
        const long = 'x'.repeat((maxLength ?? 64) + 1)
        const values = [
          '%00',
          '%FF',
          '%E0%A4%A',
          'a%0ab',
          'a%0d%0aX-A:b',
          '%1b[31m',
          '%c2%85',
          '%ef%bf%bd',
          long,
        ]
        for (const query of [...values.map((value) => `${name}=${value}`), `${name}=a&${name}=b`]) {
          const response = await fetch(`${url}${path}?${query}`, { headers: bearer })
          expectRefused(query, await answerOf(response), name)
        }
      }),
    ))

  const refusedHeaders = parametersIn('header').filter(({ name }) => name !== 'X-Request-Id')
  test('in a header', () =>
    storingNothing(() =>
      everyCase(refusedHeaders, async ({ path, name }) => {
        const call = calls.find((one) => one.path === path)
        for (const value of ['', ' ', 'a b', 'x'.repeat(129), 'ä', '\u00ff', 'a\tb']) {
          const headers = { ...bearer, 'content-type': JSON_TYPE, [name]: value }
          const response = await fetch(url + path, {
            method: 'POST',
            headers,
            body: JSON.stringify(call?.good),
          })
          expectRefused([name, value], await answerOf(response), name)
        }
      }),
    ))

  test.each(calls.filter(({ types }) => types.includes(MULTIPART)))(
    'the parts of a form to $path',
    async ({ path, fields }) => {
      await storingNothing(async () => {
        // The other parts may be missing.
        for (const { name, maxLength } of fields.filter((field) => field.name === 'file')) {
          const long = `https://media.example/${'x'.repeat(maxLength ?? 64)}`
          const wrong = ['', '\u0000', 'https://a\u0000b', 'a\r\nb', '\u001b[31m', '\u0085', '\ufffd', long]
          const forms = wrong.map((value) => formOf([name, value]))
          const sound = new Blob(['sound'])
          for (const form of [
            ...forms,
            formOf(),
            formOf([`${name}[a]`, 'x']),
            formOf([otherCase(name), 'x']),
            formOf(['__proto__', 'x']),
            formOf([name, 'https://media.example/a'], [name, 'https://media.example/b']),
            formOf([name, sound], [name, sound]),
            formOf([name, 'https://media.example/a'], [name, sound]),
            formOf([name, sound], [name, 'https://media.example/a']),
          ]) {
            const response = await fetch(url + path, { method: 'POST', headers: bearer, body: form })
            expectRefused(
              [...form].map(([part, value]) => `${part}: ${value}`),
              await answerOf(response),
              name,
            )
          }
        }
      })
    },
  )
})

// The responses of keys may be larger.
const TAKES_KEYS = /^\/v1\/mfa\/keys\/.*\/verify$/

describe('an invalid body is refused, and nothing is stored', () => {
  const texts = [
    ...[
      '{',
      '{"User":',
      '{"User":"a"',
      '{"User":"a",}',
      "{'User':'a'}",
      '{User:"a"}',
      '[]',
      '[{}]',
      '"User"',
      '5',
    ],
    ...[
      'null',
      'true',
      'undefined',
      'NaN',
      '{}{}',
      '{} x',
      '\ufeff{',
      '<User>a</User>',
      'User=a',
      '\u0000',
      ' ',
    ],
  ]
  test.each(calls)('at $path', async ({ path, good, types }) => {
    await storingNothing(async () => {
      for (const text of texts) {
        const answer = await post(path, JSON_TYPE, text)
        expect([text, answer.status, answer.code]).toEqual([text, 400, 'invalid_request'])
      }
      const limit = TAKES_KEYS.test(path) ? 40_960 : 4_096
      const large = JSON.stringify({ ...good, Pad: 'x'.repeat(limit) })
      // A body without a length is sent in chunks.
      const pieces = new ReadableStream({
        start(stream) {
          for (const piece of large.match(/.{1,512}/g) ?? []) stream.enqueue(Buffer.from(piece))
          stream.close()
        },
      })
      for (const body of [large, pieces, '{"a":'.repeat(limit / 4)]) {
        const answer = await post(path, JSON_TYPE, body)
        expect([answer.status, answer.code]).toEqual([413, 'body_too_large'])
      }
      expect((await post(path, FORM_TYPE, `User=${'%41'.repeat(limit / 2)}`)).status).toBe(413)
      expectRefused('a name 60 times', await post(path, FORM_TYPE, 'a=1&'.repeat(60)), 'a')
      expectRefused('no UTF-8', await post(path, FORM_TYPE, Buffer.from('User=\xff', 'latin1')), 'body')
      for (const type of [
        ...[
          'text/plain',
          'text/html',
          'application/xml',
          ...(types.includes(MULTIPART) ? [] : [`${MULTIPART}; boundary=x`]),
          'application/json-seq',
        ],
        ...[
          'application/json; charset=iso-8859-1',
          'application/json; charset=utf-99',
          'image/png',
          '*/*',
          ';',
          'x',
        ],
      ]) {
        const answer = await post(path, type, JSON.stringify(good))
        expect([type, answer.status, answer.code]).toEqual([type, 415, 'unsupported_media_type'])
      }
    })
  })
})

describe('an unknown address or method is refused', () => {
  const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'QUERY']

  test('for every path of the document', async () => {
    await storingNothing(async () => {
      for (const [path, item] of entriesOf(document.paths)) {
        const known = entriesOf(item).map(([method]) => method.toUpperCase())
        for (const method of METHODS.filter((one) => !known.includes(one))) {
          const address = url + path.replace('{code}', 'limited')
          const response = await fetch(address, { method, headers: bearer })
          const answer = await answerOf(response)
          expect([method, path, answer.status, answer.code]).toEqual([
            method,
            path,
            405,
            'method_not_allowed',
          ])
          expect(response.headers.get('allow')).toContain(known[0])
        }
      }
    })
  })

  test('in a path', () =>
    storingNothing(() =>
      everyCase(parametersIn('path'), async ({ method, path, name }) => {
        const hostile = [
          '%00',
          '%FF',
          '%E0%A4%A',
          '%',
          '..%2F..',
          "'--",
          '%F0%9F%94%91',
          '__proto__',
          'constructor',
        ]
        for (const value of [...hostile, 'a%0d%0ab', '%1b[31m', 'x'.repeat(2_000)]) {
          const answer = await answerOf(
            await fetch(url + path.replace(`{${name}}`, value), { method, headers: bearer }),
          )
          expect([value, [400, 404].includes(answer.status)]).toEqual([value, true])
          expect(answer.type).toContain('application/problem+json')
        }
      }),
    ))

  test('for an invalid key, at every address that requires one', async () => {
    await storingNothing(async () => {
      const authorizations = [
        '',
        'Bearer',
        'Bearer ',
        `Bearer ${'x'.repeat(600)}`,
        `Basic ${API_KEY}`,
        API_KEY,
      ]
      for (const [path, item] of entriesOf(document.paths)) {
        for (const [method, operation] of entriesOf(item)) {
          if (!JSON.stringify(resolve(document, operation).security ?? '').includes('apiKey')) continue
          for (const authorization of [
            ...authorizations,
            `Bearer ${API_KEY}x`,
            `Bearer ${API_KEY}, b`,
            'Bearer ä',
          ]) {
            const request = { method: method.toUpperCase(), headers: { authorization } }
            const answer = await answerOf(await fetch(url + path, request))
            expect([path, authorization, answer.status, answer.code]).toEqual([
              path,
              authorization,
              401,
              'invalid_api_key',
            ])
          }
        }
      }
    })
  })

  test('an invalid request id is not repeated in the response', async () => {
    for (const { path } of parametersIn('header').filter(({ name }) => name === 'X-Request-Id')) {
      for (const id of ['a b', 'x'.repeat(65), 'ä', '<script>', '']) {
        const response = await fetch(url + path, { headers: { ...bearer, 'x-request-id': id } })
        expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
        await response.text()
      }
    }
  })

  test('whatever the address is', () =>
    everyCase(
      [
        ...[
          '/',
          '/v1',
          '/v1/',
          '/v1/mfa/../../etc/passwd',
          '/v1//mfa',
          '//v1/mfa',
          '/v1/mfa%2fverify',
          '/v1/mfa/%00',
        ],
        ...[
          '/%E0%A4%A',
          '/%',
          '/%zz',
          '/__proto__',
          '/constructor',
          '/problems/__proto__',
          '/problems/toString',
        ],
        ...[
          '/problems/%E0%A4%A',
          '/problems/%00',
          `/${'a'.repeat(8_000)}`,
          `/v1/other?${'a=b&'.repeat(1_000)}`,
        ],
      ],
      async (path) => {
        const response = await fetch(url + path, { headers: bearer })
        const answer = await answerOf(response)
        expect(answer.type).toContain('application/problem+json')
        expect([400, 404, 405]).toContain(answer.status)
      },
    ))
})

describe('a request that is not valid HTTP gets a problem', () => {
  /** The first response to raw bytes: its status and the code of its problem. */
  async function raw(bytes: string): Promise<{ status: number; code: unknown; answers: number }> {
    const socket = connect(port, '127.0.0.1')
    let text = ''
    socket.setEncoding('utf8').on('data', (chunk) => (text += chunk))
    socket.on('error', () => {})
    socket.write(bytes, 'latin1')
    socket.end()
    await once(socket, 'close')
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1])
    const body = /\{"type".*?\}(?=$|HTTP)/s.exec(text)?.[0]
    return {
      status,
      code: body && (JSON.parse(body) as { code: unknown }).code,
      answers: text.match(/HTTP\/1\.1 \d/g)?.length ?? 0,
    }
  }
  const body = 'User=smuggled%40example.com&Type=EMAIL'
  const head = (...lines: string[]) =>
    [
      'POST /v1/mfa HTTP/1.1',
      `Authorization: Bearer ${API_KEY}`,
      `Content-Type: ${FORM_TYPE}`,
      ...lines,
      '',
      '',
    ].join('\r\n')
  const chunked = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
  const length = `Content-Length: ${body.length}`

  test('and stores nothing', () =>
    everyCase(
      [
        ['two lengths', head('Host: x', length, 'Content-Length: 4') + body],
        ['the same length twice', head('Host: x', length, length) + body],
        ['a length and chunks', head('Host: x', length, 'Transfer-Encoding: chunked') + chunked],
        ['chunks and a length', head('Host: x', 'Transfer-Encoding: chunked', length) + chunked],
        ['chunks under another name', head('Host: x', 'Transfer-Encoding: xchunked') + chunked],
        [
          'chunks that are not the last coding',
          head('Host: x', 'Transfer-Encoding: chunked, identity') + chunked,
        ],
        ['a negative length', head('Host: x', 'Content-Length: -5') + body],
        ['a length with a sign', head('Host: x', `Content-Length: +${body.length}`) + body],
        ['a length without end', head('Host: x', 'Content-Length: 99999999999999999999999') + body],
        ['a chunk without a size', `${head('Host: x', 'Transfer-Encoding: chunked')}zz\r\n${body}`],
        ['a blank before the colon', head('Host : x', length) + body],
        ['a header on two lines', head('Host: x', 'X-A: 1\r\n 2', `Content-Length : ${body.length}`) + body],
        ['a NUL in a header', head('Host: x', 'X-A: a\u0000b', length) + body],
        ['a line that is no header', head('Host: x', 'nonsense', length) + body],
        ['no Host', head(length) + body],
        ['two Hosts', head('Host: x', 'Host: y', length) + body],
        ['two keys', head('Host: x', 'Authorization: Bearer other', length) + body],
        ['two content types', head('Host: x', 'Content-Type: application/json', length) + body],
        ['two Idempotency-Keys', head('Host: x', 'Idempotency-Key: a', 'Idempotency-Key: b', length) + body],
        ['no method', '/v1/mfa HTTP/1.1\r\nHost: x\r\n\r\n'],
        ['an unknown method', 'STEAL /v1/mfa HTTP/1.1\r\nHost: x\r\n\r\n'],
        ['another protocol', 'POST /v1/mfa SIP/2.0\r\nHost: x\r\n\r\n'],
        ['HTTP/2 at once', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
        ['TLS', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000'],
        ['CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n'],
        ['TRACE', `TRACE /v1/mfa HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${API_KEY}\r\n\r\n`],
        ['an address that is not ours', `GET http://example.com/v1/mfa HTTP/1.1\r\nHost: x\r\n\r\n`],
        ['the address *', 'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n'],
        ['an address of 20 KB', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`],
        ['headers of 20 KB', `GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(20_000)}\r\n\r\n`],
        ['a thousand headers', `GET /v1 HTTP/1.1\r\nHost: x\r\n${'A: b\r\n'.repeat(2_500)}\r\n`],
      ],
      async ([_what, bytes]) => {
        await storingNothing(async () => {
          const answer = await raw(bytes)
          expect(answer.status).toBeGreaterThanOrEqual(400)
          expect(answer.status).toBeLessThan(500)
          expect(answer.code).toEqual(expect.any(String))
        })
        expect(bench.messages.filter(({ to }) => to.includes('smuggled'))).toEqual([])
      },
    ))

  test('what follows a refused body is not treated as a request', async () => {
    const smuggled = `POST /v1/mfa HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n`
    const { answers } = await raw(
      `${head('Host: x', 'Content-Length: 4', 'Transfer-Encoding: chunked')}0\r\n\r\n${smuggled}`,
    )
    expect(answers).toBe(1)
  })
})

describe('random input', () => {
  const names = [
    ...new Set(calls.flatMap(({ fields }) => fields.map(({ name }) => name))),
    '__proto__',
    'constructor',
    'toString',
    'x',
  ]
  const text = anyText(80)
  const anyValue = fc.jsonValue({ maxDepth: 2 })
  const goodOrAny = (name: string) =>
    fc.oneof(
      fc.constantFrom(...calls.flatMap(({ good }) => (good[name] ? [good[name]] : [])), 'a'),
      text,
      anyValue,
    )
  const anyBody = fc
    .uniqueArray(fc.constantFrom(...names), { maxLength: 8 })
    .chain((chosen) => fc.tuple(...chosen.map((name) => fc.tuple(fc.constant(name), goodOrAny(name)))))
  const anyPath = fc.constantFrom(...calls.map(({ path }) => path))

  const expectAnswered = ({ status, type }: Answer) => {
    const isAccepted = status === 200 || status === 202
    expect(isAccepted || (status >= 400 && status < 500)).toBe(true)
    expect(type).toContain(isAccepted ? 'application/json' : 'application/problem+json')
  }

  test('as JSON never leads to an internal error (R83)', async () => {
    await fc.assert(
      fc.asyncProperty(anyPath, anyBody, async (path, members) => {
        const text = `{${members.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`
        expectAnswered(await post(path, JSON_TYPE, text))
      }),
      { numRuns: 150, interruptAfterTimeLimit: 15_000 },
    )
  })

  test('as bytes never leads to an internal error', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyPath,
        fc.constantFrom(JSON_TYPE, FORM_TYPE),
        fc.uint8Array({ minLength: 1, maxLength: 300 }),
        async (path, type, bytes) => expectAnswered(await post(path, type, Buffer.from(bytes))),
      ),
      { numRuns: 100, interruptAfterTimeLimit: 10_000 },
    )
  })
})
