import { type CountersignService, createService } from '@countersign/service'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { addKey, assertion, keyHost, PAGE, signedIn } from './kit.js'

let service: CountersignService

beforeAll(async () => {
  service = await createService({
    dataDir: 'memory://',
    secret: 'a secret for the keys of a host, long enough',
    applicationName: 'Testbed',
    transcriber: 'off',
    delivery: { email: 'inbox', sms: 'inbox' },
    relyingParty: { id: 'vault.example', origins: [PAGE.origin] },
  })
})
afterAll(() => service.close())

it('the self-hosted service in process keeps keys for the routes, from the first one to its removal', async () => {
  const made = keyHost({ options: { service: service.mfa } })
  // A user without any factor adds the first one.
  const agent = await signedIn(made, 'nina')
  const { device, key } = await addKey(agent, 'passkey', { name: 'My phone', backupEligible: true })
  expect((await agent.get('/secret').expect(200)).body.mfa.amr).toEqual(['pwd', 'swk', 'user', 'mfa'])

  const again = await signedIn(made, 'nina')
  await again.get('/secret').expect(401)
  const response = await assertion(again, 'passkey', device)
  // The challenge belongs to another pending login: it is refused here, and stays valid there.
  const other = await signedIn(made, 'nina')
  await other.post('/mfa/challenge').send({ factor: 'passkey' }).expect(200)
  const foreign = await other.post('/mfa/verify').send({ factor: 'passkey', response }).expect(401)
  expect(foreign.body).toMatchObject({ code: 'invalid_key', fault: 'challenge' })
  await again.post('/mfa/verify').send({ factor: 'passkey', response }).expect(200)
  const listed = await again.get('/mfa/keys').expect(200)
  expect(listed.body).toMatchObject({
    keys: [{ id: key.id, name: 'My phone', synced: true, lastUsedAt: expect.any(String) }],
    relyingPartyId: 'vault.example',
  })

  await again.post('/mfa/keys/rename').send({ key: key.id, name: 'Blue' }).expect(200)
  await again.post('/mfa/keys/remove').send({ key: key.id }).expect(200)
  expect((await again.get('/mfa/keys').expect(200)).body.keys).toEqual([])
  expect((await (await signedIn(made, 'nina')).get('/mfa')).body).toMatchObject({
    status: 'none',
    factors: [],
  })
})
