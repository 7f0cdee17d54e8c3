import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { mfaClient } from '../../src/index.js'
import { useGateway } from '../attacks/gateway.js'
import { everyCase } from '../kit/every-case.js'
import { publishedService } from '../kit/published-service.js'

const CLIENT = new URL('../../docs/client.md', import.meta.url)

/** Runs the code of a module that imports `mfaClient`, with this environment. */
async function run(code: string, env: object): Promise<string[]> {
  const printed: string[] = []
  const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor
  const body = code.replace("import { mfaClient } from 'countersign'", '')
  await new AsyncFunction('mfaClient', 'process', 'console', body)(
    mfaClient,
    { env },
    { log: (text: string) => printed.push(text) },
  )
  return printed
}

const gatewayOf = useGateway()

it('is used as its page begins', async () => {
  const { address, newestCode } = gatewayOf()
  const [, code = ''] = /```ts\n([\s\S]*?)```/.exec(await readFile(CLIENT, 'utf8')) ?? []
  const printed = await run(code, { MFA_BASE_URL: address.baseUrl, MFA_API_KEY: address.apiKey })
  expect(printed).toEqual(['sent'])
  expect(await newestCode('user@example.com')).toMatch(/^\d{6}$/)
})

it('says what a contact is when a request has none', async () => {
  const { address, state } = await publishedService()
  const client = mfaClient(address, { country: 'GB' })
  const requests: object[] = [
    { method: 'sms', phone: '07700 900 155' },
    { method: 'sms', contact: '+447700900155' },
    { method: 'sms', contact: { phone: '07700 900 155' } },
    { method: 'dual', contact: { kind: 'dual', phone: '07700 900 155' } },
  ]
  await everyCase(requests, async (request) => {
    await expect(client.send(request as Parameters<typeof client.send>[0])).rejects.toMatchObject({
      code: 'ERR_MFA_OPTIONS',
      message: expect.stringContaining("send needs a contact, such as contact: { kind: 'phone'"),
    })
  })
  expect(state.sends).toEqual([])
  const contact = { kind: 'phone', phone: '07700 900 155' } as const
  expect(await client.send({ method: 'sms', contact })).toEqual({ outcome: 'sent' })
  expect(state.sends).toEqual(['+447700900155'])
  await client.close()
})
