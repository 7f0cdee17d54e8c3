import specs from '@asyncapi/specs'
import { Ajv } from 'ajv'
import { streamWire } from 'countersign/speech'
import { expect, test } from 'vitest'
import type * as z from 'zod'
import { streamDocument, streamDocumentText } from '../src/api/http/streams/stream-document.js'

const document = streamDocument(undefined)
const LENIENT = { strict: false, logger: false, validateFormats: false } as const
const ajv = new Ajv(LENIENT)
/** The schema of AsyncAPI contains that of JSON Schema itself. */
const ajvOfSpec = new Ajv({ ...LENIENT, meta: false, validateSchema: false })

test('the AsyncAPI document is the committed one; `npm run generate` regenerates it', async () => {
  await expect(streamDocumentText(undefined)).toMatchFileSnapshot('../asyncapi.json')
})

test('the document is valid AsyncAPI 3.0, also with the address of the service', () => {
  // Its declared type does not fit that of ajv.
  const isValid = ajvOfSpec.compile(JSON.parse(JSON.stringify(specs.schemas['3.0.0'])))
  for (const url of [undefined, 'https://mfa.example/service']) {
    const valid = isValid(structuredClone(streamDocument(url)))
    expect(isValid.errors ?? []).toEqual([])
    expect(valid).toBe(true)
  }
  expect(isValid({ ...structuredClone(document), channels: { stream: { address: 5 } } })).toBe(false)
  expect(streamDocument('https://mfa.example/service').servers?.service).toMatchObject({
    host: 'mfa.example',
    pathname: '/service',
    protocol: 'wss',
  })
  expect(document.channels.stream.address).toBe(streamWire.STREAM_PATH)
})

const SAMPLES: readonly (readonly [z.ZodType, object])[] = [
  [streamWire.streamRequest, { type: 'end' }],
  [streamWire.streamRequest, { type: 'keepalive' }],
  [streamWire.streamMessage, { type: 'ready', sample_rate: 16_000 }],
  [streamWire.streamMessage, { type: 'partial', text: 'go for' }],
  [streamWire.streamMessage, { type: 'final', text: 'go forward', start_ms: 200, end_ms: 2_200 }],
  [streamWire.streamMessage, { type: 'error', code: 'idle', detail: '…' }],
]

test('the document accepts and refuses the same messages as the code', () => {
  const described: Readonly<Record<string, { readonly payload: object }>> = document.channels.stream.messages
  expect(Object.keys(described).sort()).toEqual(
    ['audio', ...SAMPLES.map(([, sample]) => String(Reflect.get(sample, 'type')))].sort(),
  )
  for (const [schema, sample] of SAMPLES) {
    const type = String(Reflect.get(sample, 'type'))
    const isDescribed = ajv.compile(described[type]?.payload ?? false)
    const wrong = Object.keys(sample).flatMap((name) => [
      Object.fromEntries(Object.entries(sample).filter(([other]) => other !== name)),
      { ...sample, [name]: null },
      { ...sample, [name]: -1.5 },
    ])
    for (const message of [sample, ...wrong]) {
      expect([message, isDescribed(message)]).toEqual([message, schema.safeParse(message).success])
    }
  }
})
