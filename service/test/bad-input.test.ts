import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { storedInbox } from '../src/delivery/inbox.js'
import { apiDocument } from '../src/http/openapi/document.js'
import { exampleOf } from '../src/http/openapi/example.js'
import { entriesOf, resolve, textsOf } from '../src/http/openapi/resolve.js'
import { apiServer } from '../src/http/server.js'
import { apiOver } from './api-kit.js'
import { API_KEY, type Bench, freshTenant, openBench } from './kit.js'

/*
 * What can be wrong is made from the OpenAPI document, which is made from the schemas: a field that somebody adds is
 * tested here without a word.
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
  /** Parameters that are as they should be, every field given. */
  readonly good: Readonly<Record<string, string>>
}

const calls: readonly Call[] = entriesOf(document.paths).flatMap(([path, item]) =>
  entriesOf(item).flatMap(([method, operation]) => {
    // A recording is also uploaded, and needs an engine: transcription-limits.test.ts tries its fields.
    if (method !== 'post' || path === '/v1/transcribe') return []
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
    const good = Object.fromEntries(
      entriesOf(body.properties).map(([name, schema]) => [name, exampleOf(schema)]),
    )
    return [{ path, fields, good }]
  }),
)

const FIELDS = calls.flatMap((call) =>
  call.fields.map((field) => ({ path: call.path, name: field.name, call, field })),
)

let bench: Bench
let server: ReturnType<typeof apiServer>
let url: string
let port: number
beforeAll(async () => {
  bench = await openBench()
  const inbox = storedInbox(bench.store, bench.core.keys)
  server = apiServer(
    apiOver(bench.core, freshTenant(bench).application, { inboxes: { test: inbox, live: inbox } }),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  port = (server.address() as AddressInfo).port
  url = `http://127.0.0.1:${port}`
})
afterAll(async () => {
  const alive = await fetch(`${url}/healthz`)
  server.close()
  server.closeAllConnections()
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

/** How many rows there are in each table. */
async function rows(): Promise<Record<string, number>> {
  const tables = await bench.store.query<{ name: string }>(
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1",
  )
  const counts = await Promise.all(
    tables.map(async ({ name }) => {
      const [row] = await bench.store.query<{ count: number }>(`SELECT count(*)::int AS count FROM "${name}"`)
      return [name, row?.count ?? -1] as const
    }),
  )
  expect(counts.length).toBeGreaterThan(10)
  return Object.fromEntries(counts)
}

/** Runs requests that must leave nothing behind. */
async function storingNothing(work: () => Promise<void>): Promise<void> {
  const before = await rows()
  await work()
  expect(await rows()).toEqual(before)
}

const expectRefused = (what: unknown, answer: Answer, field: string) => {
  expect({ what, ...answer, fields: answer.fields.includes(field) }).toMatchObject({
    what,
    status: 400,
    code: 'invalid_request',
    fields: true,
    type: expect.stringContaining('application/problem+json'),
  })
}

test('the document has calls to test, and its examples are good', async () => {
  expect(calls.length).toBeGreaterThan(3)
  for (const { path, good } of calls) {
    const { status, code } = await post(path, JSON_TYPE, JSON.stringify(good))
    expect([path, [200, 401].includes(status), code]).toEqual([
      path,
      true,
      status === 200 ? undefined : 'invalid_code',
    ])
  }
})

describe('a field is named when it is not what it should be, and nothing is stored (R81, R82, R83)', () => {
  const deep = `${'['.repeat(500)}${']'.repeat(500)}`

  /** JSON texts of values that are wrong for every field. */
  const wrongFor = ({ maxLength, words }: Field): string[] => [
    ...['0', '5', '-1', '1e400', '123456789012345678901234567890', 'true', 'false', 'null'],
    ...['[]', '["a@example.com"]', '{}', '{"$ne":null}', '{"__proto__":{"x":1}}', deep],
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

  test.each(FIELDS)('$name of $path, as JSON', async ({ call, field }) => {
    await storingNothing(async () => {
      for (const wrong of wrongFor(field)) {
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
    })
  })

  test.each(FIELDS)('$name of $path, as a form', async ({ call, field }) => {
    await storingNothing(async () => {
      const others = Object.fromEntries(Object.entries(call.good).filter(([name]) => name !== field.name))
      const rest = new URLSearchParams(others).toString()
      const value = encodeURIComponent(call.good[field.name] ?? '')
      for (const wrong of [
        `${field.name}=`,
        `${field.name}`,
        `${field.name}=%00`,
        `${field.name}=a%0d%0ab`,
        `${field.name}=%E0%A4%A`,
        `${field.name}=%FF%FE`,
        `${field.name}=${'x'.repeat((field.maxLength ?? 64) + 1)}`,
        `${field.name}=${value}&${field.name}=${value}`,
        `${field.name}=${value}&${field.name}=other`,
      ]) {
        expectRefused(wrong, await post(call.path, FORM_TYPE, `${wrong}&${rest}`), field.name)
      }
    })
  })

  test.each(FIELDS.filter(({ field }) => field.required))(
    '$name of $path, when it is missing',
    async ({ call, field }) => {
      await storingNothing(async () => {
        const others = Object.fromEntries(Object.entries(call.good).filter(([name]) => name !== field.name))
        const nested = { ...others, [`${field.name}[a]`]: 'x', [field.name.toLowerCase()]: 'x' }
        for (const [type, body] of [
          [JSON_TYPE, JSON.stringify(others)],
          [JSON_TYPE, JSON.stringify(nested)],
          [JSON_TYPE, `{"__proto__":${JSON.stringify(call.good)},${JSON.stringify(others).slice(1)}`],
          [JSON_TYPE, JSON.stringify({ ...others, constructor: { prototype: call.good } })],
          [FORM_TYPE, new URLSearchParams(others).toString()],
          [FORM_TYPE, new URLSearchParams(nested).toString()],
          [FORM_TYPE, ''],
        ] as const) {
          expectRefused(body, await post(call.path, type, body), field.name)
        }
      })
    },
  )

  test('the contact whose messages are listed', async () => {
    for (const query of ['to=a&to=b', 'to=%00', 'to=%FF', `to=${'x'.repeat(321)}`, 'to=a%0ab']) {
      const response = await fetch(`${url}/v1/test/inbox?${query}`, { headers: bearer })
      expectRefused(query, { ...(await answerOf(response)), status: response.status }, 'to')
    }
  })
})

describe('a body that cannot be read is refused, and nothing is stored', () => {
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
  test.each(calls)('at $path', async ({ path, good }) => {
    await storingNothing(async () => {
      for (const text of texts) {
        const answer = await post(path, JSON_TYPE, text)
        expect([text, answer.status, answer.code]).toEqual([text, 400, 'invalid_request'])
      }
      const large = JSON.stringify({ ...good, Pad: 'x'.repeat(4_096) })
      // A body without a length: it comes in chunks.
      const pieces = new ReadableStream({
        start(stream) {
          for (const piece of large.match(/.{1,512}/g) ?? []) stream.enqueue(Buffer.from(piece))
          stream.close()
        },
      })
      for (const body of [large, pieces, `${'{"a":'.repeat(900)}`]) {
        const answer = await post(path, JSON_TYPE, body)
        expect([answer.status, answer.code]).toEqual([413, 'body_too_large'])
      }
      expect((await post(path, FORM_TYPE, `User=${'%41'.repeat(2_000)}`)).status).toBe(413)
      expectRefused('a name 60 times', await post(path, FORM_TYPE, 'a=1&'.repeat(60)), 'a')
      expectRefused('no UTF-8', await post(path, FORM_TYPE, Buffer.from('User=\xff', 'latin1')), 'body')
      for (const type of [
        ...[
          'text/plain',
          'text/html',
          'application/xml',
          'multipart/form-data; boundary=x',
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

describe('an address or method that is not there is refused', () => {
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

  test.each([
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
    ...['/%E0%A4%A', '/%', '/%zz', '/__proto__', '/constructor', '/problems/__proto__', '/problems/toString'],
    ...['/problems/%E0%A4%A', '/problems/%00', `/${'a'.repeat(8_000)}`, `/v1/other?${'a=b&'.repeat(1_000)}`],
  ])('%s', async (path) => {
    const response = await fetch(url + path, { headers: bearer })
    const answer = await answerOf(response)
    expect(answer.type).toContain('application/problem+json')
    expect([400, 404, 405]).toContain(answer.status)
  })
})

describe('a request that is hardly one is answered by a problem', () => {
  /** The first answer to raw bytes: its status and the code of its problem. */
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

  test.each([
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
  ])('%s', async (_what, bytes) => {
    await storingNothing(async () => {
      const answer = await raw(bytes)
      expect(answer.status).toBeGreaterThanOrEqual(400)
      expect(answer.status).toBeLessThan(500)
      expect(answer.code).toEqual(expect.any(String))
    })
    expect(bench.letters.filter(({ to }) => to.includes('smuggled'))).toEqual([])
  })

  test('what follows a refused body is not taken for a request', async () => {
    const smuggled = `POST /v1/mfa HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n`
    const { answers } = await raw(
      `${head('Host: x', 'Content-Length: 4', 'Transfer-Encoding: chunked')}0\r\n\r\n${smuggled}`,
    )
    expect(answers).toBe(1)
  })
})

describe('whatever is sent', () => {
  const names = [...new Set(FIELDS.map(({ name }) => name)), '__proto__', 'constructor', 'toString', 'x']
  const goodOrAny = (name: string) =>
    fc.oneof(
      fc.constantFrom(...calls.flatMap(({ good }) => (good[name] ? [good[name]] : [])), 'a'),
      fc.string({ unit: 'binary', maxLength: 80 }),
      fc.jsonValue({ maxDepth: 2 }),
    )
  const anyBody = fc
    .uniqueArray(fc.constantFrom(...names), { maxLength: 8 })
    .chain((chosen) => fc.tuple(...chosen.map((name) => fc.tuple(fc.constant(name), goodOrAny(name)))))
  const anyPath = fc.constantFrom(...calls.map(({ path }) => path))

  const expectAnswered = ({ status, type }: Answer) => {
    expect(status === 200 || (status >= 400 && status < 500)).toBe(true)
    expect(type).toContain(status === 200 ? 'application/json' : 'application/problem+json')
  }

  test('as JSON is answered, and never with a failure (R83)', async () => {
    await fc.assert(
      fc.asyncProperty(anyPath, anyBody, async (path, members) => {
        const text = `{${members.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`
        expectAnswered(await post(path, JSON_TYPE, text))
      }),
      { numRuns: 150, interruptAfterTimeLimit: 15_000 },
    )
  })

  test('as bytes is answered, and never with a failure', async () => {
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
