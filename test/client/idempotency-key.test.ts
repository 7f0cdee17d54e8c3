import { describe, expect, it } from 'vitest'
import type { ServiceAddress } from '../../src/options/service.js'
import { BOBS_CODE, pair } from './ask.js'
import { answer } from './hostile-service.js'

const contact = { kind: 'email', email: 'dora@example.com' } as const

/** The Idempotency-Key of each call: two sends, two sets of backup codes, a verification, an app. */
async function keysOf(dialect?: ServiceAddress['dialect']) {
  const png = Buffer.concat([Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]), Buffer.alloc(40)])
  const { client, service } = await pair(
    answer(200, { valid: true, qr: png.toString('base64') }),
    dialect && { dialect },
  )
  for (let i = 0; i < 2; i++) {
    await client.send({ method: 'email', contact })
    await client.sendBackupCodes({ method: 'email', contact })
  }
  await client.verify(BOBS_CODE)
  await client.enrollApp({ contact })
  return service.calls.map(({ headers }) => headers['idempotency-key'])
}

describe('an Idempotency-Key', () => {
  it('is sent with every request that sends a message, new each time, and with no other', async () => {
    const keys = await keysOf('countersign')
    const sending = keys.slice(0, 4)
    for (const key of sending) expect(key).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
    expect(new Set(sending).size).toBe(4)
    expect(keys.slice(4)).toEqual([undefined, undefined])
  })

  it('is not sent to a service that only supports the published API', async () => {
    expect(await keysOf()).toEqual(Array(6).fill(undefined))
  })
})
