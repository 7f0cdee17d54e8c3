import { readFile } from 'node:fs/promises'
import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, it } from 'vitest'
import { type MfaState, mfaRouter } from '../../src/index.js'
import { mfaState } from '../../src/routes/answers.js'
import { mfaTestKit } from '../../src/testing/index.js'
import { host, jsonAgent, signIn, signInFully } from '../kit/host.js'
import { challenge, verify } from '../kit/sign-in.js'
import { openApi } from './from-table.js'
import { withRoutes } from './routes-document.js'

const text = `${JSON.stringify(openApi, null, 2)}\n`

/** The paths of the routes of a router and of the routers in it. */
function pathsOf(router: object): string[] {
  const layers: unknown = Reflect.get(router, 'stack')
  if (!Array.isArray(layers)) return []
  return layers.flatMap(({ route, handle }) => (route ? [String(route.path)] : pathsOf(handle)))
}

describe('the OpenAPI document of the routes', () => {
  it('is committed in its current form, as `npm run generate` writes it', async () => {
    await expect(text).toMatchFileSnapshot('../../docs/openapi.json')
  })

  it('is valid OpenAPI 3.1', async () => {
    const validator = new Validator()
    expect(await validator.validate(JSON.parse(text))).toMatchObject({ valid: true })
    expect(validator.version).toBe('3.1')
  })

  it('has the routes of mfaRouter with their methods, and no others', async () => {
    const publicUrl = 'https://app.example'
    const { app, mfa } = host({
      options: {
        service: mfaTestKit({ relyingParty: { id: 'app.example' } }).service,
        keys: true,
        urls: { publicUrl },
        trustedDevices: { store: 'memory' },
        languages: { offer: ['en', 'de'] },
        recovery: { onNotice: () => {}, onFactorsEnded: () => {} },
      },
    })
    const served = [...new Set(pathsOf(mfaRouter(mfa)))].filter((path) => !path.startsWith('/assets/'))
    const documented = Object.entries(openApi.paths ?? {})
    expect(served.map((path) => path.replace(/:(\w+)/, '{$1}')).sort()).toEqual(
      documented.map(([path]) => path).sort(),
    )
    for (const [path, item] of documented) {
      const { headers } = await jsonAgent(app)
        .put(`/mfa${path.replace('{device}', 'x')}`)
        .expect(405)
      const methods = Object.keys(item).flatMap((name) =>
        name === 'get' ? ['GET', 'HEAD'] : [name.toUpperCase()],
      )
      expect([path, headers.allow]).toEqual([path, methods.join(', ')])
    }
  })
})

describe('the page of the routes', () => {
  it('has every route, as `npm run generate` writes it', async () => {
    await expect(await withRoutes('docs/routes.md')).toMatchFileSnapshot('../../docs/routes.md')
  })
})

describe('the JSON responses', () => {
  it('distinguish the MFA states by the status', async () => {
    const made = host({
      options: { factors: ({ factors }) => factors.map((factor) => ({ ...factor, label: 'Mine' })) },
    })
    const stateOf = async (agent: ReturnType<typeof jsonAgent>): Promise<MfaState> => {
      const { body } = await agent.get('/mfa').expect(200)
      expect(mfaState.parse(body)).toEqual(body)
      return body
    }
    const pending = await signIn(made.app, 'bob')
    await challenge(pending, 'sms')
    const state = await stateOf(pending)
    if (state.status !== 'pending') throw new Error(state.status)
    // Only a pending login has `expiresAt`, also in its type.
    expect(Date.parse(state.expiresAt)).toBeGreaterThan(Date.now())
    expect(state.challenge).toMatchObject({ factor: 'sms', to: '••• 02' })
    expect((await stateOf(jsonAgent(made.app))).status).toBe('none')
    expect((await stateOf(await signIn(made.app, 'nina'))).status).toBe('none')
    expect((await stateOf(await signInFully(made, 'bob'))).status).toBe('verified')
  })
})

describe('the type of a problem', () => {
  it('names the code, from the routes, the gate and the rules, as the page of errors has it', async () => {
    const agent = await signIn(host().app, 'bob')
    const ours = await verify(agent, '123456').expect(409)
    const gate = await agent.get('/secret').expect(401)
    const rule = await agent.post('/transfer').expect(401)
    const types = [ours, gate, rule].map(({ body }) => body.type)
    expect(types).toEqual([
      'urn:countersign:problem:no_challenge',
      'urn:countersign:problem:mfa_required',
      'urn:countersign:problem:mfa_required',
    ])
    const document = await readFile(new URL('../../docs/errors.md', import.meta.url), 'utf8')
    for (const type of types) expect(document).toContain(`### ${type.split(':').at(-1)}\n`)
  })
})
