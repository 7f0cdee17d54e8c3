import request from 'supertest'
import { describe, expect, it } from 'vitest'
import { createMfa } from '../../src/index.js'
import { ServiceError } from '../../src/protocol/index.js'
import { keyHost } from './kit.js'

type Setup = NonNullable<Parameters<typeof keyHost>[0]>

function wellKnown(relatedOrigins: readonly string[], options: Setup['options'] = {}) {
  const asked = { times: 0, isDown: false }
  const made = keyHost({
    options,
    change: (service) => ({
      ...service,
      ...(service.keys && {
        keys: {
          ...service.keys,
          relyingParty: async () => {
            asked.times++
            if (asked.isDown) throw new ServiceError('ERR_MFA_SERVICE_UNAVAILABLE', 'down for the test')
            return { id: 'vault.example', name: 'Vault', origins: ['https://vault.example'], relatedOrigins }
          },
        },
      }),
    }),
    mount: (app, mfa) => void app.use('/.well-known', createMfa(mfa).wellKnownRouter),
  })
  return { ...made, asked }
}

describe('the documents below /.well-known', () => {
  it('list the related origins, which the service is asked for once in five minutes', async () => {
    const { app, asked } = wellKnown(['https://vault.test'])
    for (let visit = 0; visit < 3; visit++) {
      const { body } = await request(app).get('/.well-known/webauthn').expect(200)
      expect(body).toEqual({ origins: ['https://vault.example', 'https://vault.test'] })
    }
    expect(asked.times).toBe(1)
  })

  it('do not remember that the service was down', async () => {
    const { app, asked } = wellKnown(['https://vault.test'])
    asked.isDown = true
    await request(app).get('/.well-known/webauthn').expect(503)
    asked.isDown = false
    await request(app).get('/.well-known/webauthn').expect(200)
  })

  it('lead password managers to the page of keys, at the configured address (R16)', async () => {
    const { app } = wellKnown([], {
      urls: { publicUrl: 'https://vault.example' },
      notices: { store: 'memory' },
    })
    const answer = await request(app)
      .get('/.well-known/passkey-endpoints')
      .set('Host', 'evil.example')
      .expect(200)
    expect(answer.body).toEqual({
      enroll: 'https://vault.example/mfa/keys',
      manage: 'https://vault.example/mfa/keys',
    })
    await request(app).get('/.well-known/webauthn').expect(404)
  })

  it('are absent without keys, and without the address of the app', async () => {
    const { app } = wellKnown(['https://vault.test'], { keys: false })
    await request(app).get('/.well-known/webauthn').expect(404)
    await request(wellKnown([]).app).get('/.well-known/passkey-endpoints').expect(404)
  })
})
