import { expect, test } from 'vitest'
import { everyCase } from '../../../test/kit/every-case.js'
import { parseDelivery } from '../../src/messages/carriers/delivery-option.js'
import { rejection } from '../kit.js'
import { describeCarrier } from './contract.js'
import { type ProviderApi, providerStub } from './provider-stub.js'
import { carrierFor } from './providers.js'
import { message } from './queued-messages.js'

const TOKEN = 'plivo/token'
const LOGIN = `MAXXXXXXXXXXXXXXXXXX:${encodeURIComponent(TOKEN)}`
const LEAK = `+447700900123 012345 ${TOKEN}`

const error = (status: number, text: string) => ({ status, body: JSON.stringify({ error: text }) })

const PLIVO: ProviderApi = {
  path: '/v1/Account/MAXXXXXXXXXXXXXXXXXX/Message/',
  refuse({ headers, body }) {
    const login = Buffer.from(headers.authorization?.replace('Basic ', '') ?? '', 'base64').toString()
    if (login !== `MAXXXXXXXXXXXXXXXXXX:${TOKEN}`) return error(401, 'authentication failed')
    const { src, dst, text } = JSON.parse(body) as Record<string, unknown>
    const isComplete = [src, dst, text].every((field) => typeof field === 'string' && field !== '')
    return isComplete ? undefined : error(400, 'a parameter is missing')
  },
  answers: {
    accept: {
      status: 202,
      body: '{"message":"message(s) queued","message_uuid":["db3ce55a-7f1d"],"api_id":"db342550"}',
    },
    'unknown recipient': error(400, `invalid parameter: dst ${LEAK}`),
    refused: error(400, `invalid parameter: src ${LEAK}`),
    overloaded: error(429, `too many requests ${LEAK}`),
  },
}

async function opened() {
  const server = await providerStub(PLIVO)
  return {
    carrier: carrierFor('sms', `plivo://${LOGIN}@${server.host}?from=Vault`),
    server,
    get arrived() {
      return server.accepted.map(({ body }) => {
        const { dst, text } = JSON.parse(body) as { readonly dst: string; readonly text: string }
        return { to: [`+${dst}`], content: text }
      })
    },
    answer: server.answer,
    answerWith: server.answerWith,
    secrets: [TOKEN],
    close: server.close,
  }
}

describeCarrier('Plivo', ['sms'], opened)

test('a message by Plivo has the sender of the address, and its id is that of Plivo', async () => {
  const { carrier, server, close } = await opened()
  expect(await carrier.deliver(message('sms'), AbortSignal.timeout(5_000))).toEqual({ id: 'db3ce55a-7f1d' })
  expect(JSON.parse(server.accepted[0]?.body ?? '')).toMatchObject({ src: 'Vault' })
  await close()
})

test('a message that something else than Plivo accepts is not sent', async () => {
  const { carrier, answerWith, close } = await opened()
  for (const body of ['<html>Welcome to the Wi-Fi</html>', '', '{}', '{"message_uuid":[]}', '[]']) {
    answerWith(202, body)
    const delivery = carrier.deliver(message('sms'), AbortSignal.timeout(5_000))
    const fault = body.startsWith('<html') ? 'outage' : 'carrier'
    expect(await rejection(delivery), body).toMatchObject({ fault })
  }
  await close()
})

test('an address of Plivo without login or sender is refused, and says what is missing', () =>
  everyCase(
    [
      ['sms=plivo://api.plivo.com?from=Vault', 'needs the auth id and auth token: plivo://'],
      ['sms=plivo://MA1:t@api.plivo.com', 'needs the sender ?from='],
      ['email=plivo://MA1:t@api.plivo.com?from=Vault', 'serves sms only, not email: use smtp, ses'],
      ['sms=plivo://MA1:t@api.plivo.com?from=Vault&region=eu', 'has no parameter "region": use from.'],
    ] as const,
    ([delivery, fault]) => expect(parseDelivery(delivery).faults.join()).toContain(fault),
  ))
