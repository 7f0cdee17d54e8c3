import { describe, expect, it } from 'vitest'
import { softwareAuthenticator } from '../../src/testing/index.js'
import { approvedByAny, keyHost, PAGE, signedIn } from '../keys/kit.js'

// The third one turns the direction of the text behind it.
const NAMES = [
  'Phone\nYou did this yourself.',
  'Phone\u2028You did this yourself.',
  'Phone \u202Eedoc eht etirw',
  'Phone\0',
]

describe('an attacker in the session of a user', () => {
  it('cannot name a key so that the notice to the user reads differently', async () => {
    const made = keyHost()
    const agent = await signedIn(made, 'bob', 'sms')
    const options = () => agent.post('/mfa/keys/options').send({ method: 'passkey' })
    const { body } = await approvedByAny(agent, options)
    const response = softwareAuthenticator().create(body.publicKey, PAGE)
    const add = (name: string) => agent.post('/mfa/keys').send({ method: 'passkey', response, name })
    for (const name of NAMES) {
      const refused = await add(name).expect(400)
      expect(refused.body.errors).toEqual([
        { field: 'name', detail: 'must be one line of text without control characters' },
      ])
    }
    expect((await agent.get('/mfa/keys').expect(200)).body.keys).toEqual([])
    expect(made.notices).toEqual([])
    // Nothing but the name was wrong.
    const { key } = (await add('Téléphone d’Anna 📱').expect(200)).body
    expect(key.name).toBe('Téléphone d’Anna 📱')
    for (const name of NAMES) await agent.post('/mfa/keys/rename').send({ key: key.id, name }).expect(400)
  })
})
