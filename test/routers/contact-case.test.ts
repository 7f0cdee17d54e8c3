import { expect, it } from 'vitest'
import { EMPTY_RECORD, host, signIn } from '../kit/host.js'
import { verify } from '../kit/sign-in.js'
import { standInService } from '../kit/stand-in-service.js'

/*
 * Services take contacts that differ only in case for one account. A host may spell them as the user typed them.
 */

it('enrolls and verifies an app under one contact, however the host spells it (R98)', async () => {
  const standIn = standInService()
  const enrolled: boolean[] = []
  const made = host({
    standIn,
    options: {
      factors: () => enrolled.map(() => ({ method: 'app', user: 'NINA@Example.com' })),
      appContact: () => 'Nina@EXAMPLE.com',
      ...EMPTY_RECORD,
      onFactorsChanged: (_user, { app }) => void enrolled.push(app),
    },
  })
  const owner = await signIn(made.app, 'nina')
  await owner.post('/mfa/enroll-app').expect(200)
  await owner.post('/mfa/enroll-app/confirm').send({ code: '123456' }).expect(200)
  expect(enrolled).toEqual([true])
  const agent = await signIn(made.app, 'nina')
  await verify(agent, '123456', { factor: 'app' }).expect(200)
  const contacts = standIn.calls.map(
    ({ request }) => (request as { contact: { email: string } }).contact.email,
  )
  expect(new Set(contacts)).toEqual(new Set(['nina@example.com']))
})
