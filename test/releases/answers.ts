import { appCode, listen } from '../../service/test/kit.js'
import { KEY_PAGE } from '../../service/test/software-key.js'
import { httpService } from '../../src/client/service.js'
import { readServiceAddress } from '../../src/options/settings.js'
import { KEY_VERBS } from '../../src/protocol/key-verbs.js'
import { VERBS } from '../../src/protocol/verbs.js'
import { softwareAuthenticator } from '../../src/testing/index.js'
import { MINUTE } from '../kit/clock.js'
import { codeIn } from '../kit/message-code.js'
import type { App, Exchange } from './app.js'
import type { ReleaseSet } from './release-set.js'

type Answer = ReleaseSet['answers'][number]

/** Every verb of a service, by the name that an answer is kept under. */
export const ALL_VERBS = [...Object.keys(VERBS), ...Object.keys(KEY_VERBS).map((name) => `keys.${name}`)]

/** The value that the client of this release returns for an answer, which a server on this machine gives. */
export async function returnedFor({
  verb,
  request,
  ...exchange
}: Pick<Answer, 'verb' | 'request' | 'status' | 'headers' | 'body'>): Promise<unknown> {
  const server = await listen((_request, response) => {
    response.writeHead(exchange.status, exchange.headers).end(exchange.body)
  })
  const client = httpService(
    readServiceAddress({ baseUrl: server.url, apiKey: 'key_of_the_answers_0123', dialect: 'countersign' }),
  )
  try {
    // As JSON has it: a member that is undefined is absent.
    const returned = await call(client, verb, request)
    return returned === undefined ? null : JSON.parse(JSON.stringify(returned))
  } finally {
    await client.close?.()
    await server.close()
  }
}

function call(service: object, verb: string, request: unknown): Promise<unknown> {
  const [name = '', part] = verb.split('.').reverse()
  const host: object = part === undefined ? service : Reflect.get(service, part)
  return Reflect.apply(Reflect.get(host, name), host, [request])
}

/** Asks a service for an answer of each verb, also for the usual refusals. */
export async function recordAnswers(
  { address, exchanges, messages }: Pick<App, 'address' | 'exchanges' | 'messages'>,
  clock: { move(ms: number): void },
): Promise<Answer[]> {
  const client = httpService(readServiceAddress({ ...address, dialect: 'countersign' }))
  const answers: Answer[] = []
  const ask = async (verb: string, request: Record<string, unknown>) => {
    const first = exchanges.length
    await call(client, verb, request)
    const [exchange] = exchanges.slice(first) as [Exchange]
    const { status, headers, body } = exchange
    const answer = { verb, request, status, headers: { ...headers }, body }
    answers.push({ ...answer, returned: await returnedFor(answer) })
    return JSON.parse(body)
  }
  const contact = { kind: 'email', email: 'ivy@example.com' }
  const user = { contact, account: 'u-ivy', clientAddress: '192.0.2.7', locale: 'en' }

  const sent = await ask('send', { method: 'email', ...user, transaction: 'login-1', purpose: 'sign-in' })
  await ask('send', { method: 'email', ...user, transaction: 'login-1', purpose: 'sign-in' })
  const code = codeIn((await messages(contact.email))[0])
  const verify = { method: 'email', kind: 'code', ...user, transaction: 'login-1', challenge: sent.challenge }
  await ask('verify', { ...verify, code: code === '000000' ? '111111' : '000000' })
  await ask('verify', { ...verify, code })
  await ask('deliveryOf', { challenge: sent.challenge })
  await ask('deliveryOf', { challenge: 'unknown' })
  const { secret } = await ask('enrollApp', user)
  await ask('verify', { method: 'app', kind: 'confirm', ...user, code: appCode(secret) })
  clock.move(MINUTE)
  await ask('sendBackupCodes', { method: 'email', ...user })
  const { codes } = await ask('createBackupCodes', user)
  await ask('verify', { method: 'email', kind: 'backup', ...user, code: codes[0] })
  const ceremony = { ...user, method: 'passkey', transaction: 'login-2' }
  const device = softwareAuthenticator()
  const creation = await ask('keys.registrationOptions', { ...ceremony, userName: 'ivy' })
  const response = device.create(creation.options, KEY_PAGE)
  const { key } = await ask('keys.register', { ...ceremony, response, name: 'Phone' })
  const assertion = await ask('keys.authenticationOptions', ceremony)
  await ask('keys.authenticate', { ...ceremony, response: device.get(assertion.options, KEY_PAGE) })
  await ask('keys.list', user)
  await ask('keys.rename', { ...user, key: key.id, name: 'Old phone' })
  await ask('keys.relyingParty', {})
  await ask('factorsOf', user)
  await ask('keys.remove', { ...user, key: key.id })
  await ask('removeFactor', { ...user, factor: 'app' })
  await client.close?.()
  return answers
}
