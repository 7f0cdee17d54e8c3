import { createHash } from 'node:crypto'
import express, { type Request } from 'express'
import { describe, expect, it } from 'vitest'
import { requireMfa } from '../../src/index.js'
import { everyCase } from '../kit/every-case.js'
import { signInFully } from '../kit/host.js'
import { approve, BILL, payments, signedIn } from './kit.js'

/** The fields with one bit of one character flipped. */
function withFlippedBit(name: keyof typeof BILL, at: number, bit: number) {
  const value = BILL[name]
  const other = String.fromCharCode(value.charCodeAt(at) ^ (1 << bit))
  return { ...BILL, [name]: value.slice(0, at) + other + value.slice(at + 1) }
}

/** `POST /pay` with a body that is written as it is sent. */
const sendText = (agent: Awaited<ReturnType<typeof signedIn>>['agent'], json: string) =>
  agent.post('/pay').set('Content-Type', 'application/json').send(json)

describe('the digest of an approval (R121, R122)', () => {
  it('changes with every bit of every field', async () => {
    const { agent } = await signedIn()
    // An open approval is asked for again under the same id, exactly if the digest is the same.
    const idOf = async (body: object) => (await agent.post('/pay').send(body).expect(401)).body.approval.id
    expect(await idOf(BILL)).toBe(await idOf(BILL))
    const flipped = (['amount', 'to'] as const).flatMap((name) =>
      [...BILL[name]].flatMap((_character, at) =>
        Array.from({ length: 8 }, (_, bit) => withFlippedBit(name, at, bit)),
      ),
    )
    expect(flipped).toHaveLength(8 * 28)
    await everyCase(flipped, async (body) => {
      const id = await idOf(BILL)
      expect(await idOf(body)).not.toBe(id)
    })
  })

  it('refuses a request that was changed by one bit after its approval', () =>
    everyCase(
      [
        ['amount', 0, 0],
        ['amount', 5, 3],
        ['to', 0, 5],
        ['to', 11, 1],
        ['to', 21, 7],
      ] as const,
      async ([name, at, bit]) => {
        const { agent, standIn, done } = await signedIn()
        await approve({ standIn }, agent, () => agent.post('/pay').send(BILL))
        const refused = await agent
          .post('/pay')
          .send(withFlippedBit(name, at, bit))
          .expect(401)
        expect(refused.body.code).toBe('step_up_required')
        expect(done).toEqual([])
      },
    ))

  it('is SHA-256 of user, type, method, route, path parameters and fields in their canonical form', async () => {
    const digestOf = (text: string) => createHash('sha256').update(text).digest('base64url')
    const host = payments(undefined, {
      routes(inner) {
        const router = express.Router()
        router.put('/pay/:account', express.json(), requireMfa({ bind: ['amount'] }))
        inner.use('/bank', router)
      },
    })
    const bob = await signInFully(host, 'bob')
    const first = await approve(host, bob, () => bob.post('/pay').send(BILL))
    const fields = `"amount":"250.00","to":"${BILL.to}"`
    const bound = `"fields":{${fields}},"method":"POST","params":{},"path":"/pay","route":"/pay","type":"POST /pay"`
    expect(first.given.approval.digest).toBe(digestOf(`{${bound},"user":"u-bob"}`))

    const second = await approve(host, bob, () => bob.put('/bank/pay/7').send({ amount: 1e21 }))
    const route =
      '"params":{"account":"7"},"path":"/bank/pay/7","route":"/bank/pay/:account","type":"PUT /bank/pay/:account"'
    expect(second.given.approval.digest).toBe(
      digestOf(`{"fields":{"amount":1e+21},"method":"PUT",${route},"user":"u-bob"}`),
    )

    // An approval of another user is another one, and theirs alone.
    const alice = await signInFully(host, 'alice', 'sms')
    const own = await approve(host, alice, () => alice.post('/pay').send(BILL))
    expect(own.given.approval.digest).toBe(digestOf(`{${bound},"user":"u-ali"}`))
    await bob.post('/pay').send(BILL).expect(401)
    await alice.post('/pay').send(BILL).expect(200)
  })

  it('is another for another type, method, route, mount path or path parameter', async () => {
    // Each pair differs in one of them only, because the function says the same for all.
    const rule = { bind: (req: Request) => ({ type: String(req.query.type ?? 'payment'), amount: '250.00' }) }
    await everyCase(
      [
        ['post', '/due', 'post', '/due?type=refund'],
        ['post', '/due', 'put', '/due'],
        ['post', '/due', 'post', '/overdue'],
        ['post', '/a/pay', 'post', '/b/pay'],
        ['post', '/due/1', 'post', '/due/2'],
      ] as const,
      async ([method, path, otherMethod, otherPath]) => {
        const { agent, standIn } = await signedIn(undefined, {
          routes(inner) {
            const run: express.RequestHandler = (_req, res) => void res.json({ done: true })
            const router = express.Router()
            router.post('/pay', requireMfa(rule), run)
            inner.use('/a', router)
            inner.use('/b', router)
            inner.all('/due', requireMfa(rule), run)
            inner.post('/overdue', requireMfa(rule), run)
            inner.post('/due/:invoice', requireMfa(rule), run)
          },
        })
        const { given } = await approve({ standIn }, agent, () => agent[method](path))
        const other = await agent[otherMethod](otherPath).expect(401)
        expect(other.body.approval.id).not.toBe(given.approval.id)
        await approve({ standIn }, agent, () => agent[method](path))
        await agent[method](path).expect(200)
      },
    )
  })

  it('is another for another path of the same handler: in a list, of a RegExp, or behind router.use (R147)', () =>
    everyCase(
      [
        ['/a/7/rename', '/a/7/close'],
        ['/files/report/share', '/files/report/delete'],
        ['/used/open', '/used/close'],
      ] as const,
      async ([path, otherPath]) => {
        const { agent, standIn, done } = await signedIn(undefined, {
          routes(inner) {
            const rule = requireMfa({ bind: ['name'] })
            const run: express.RequestHandler = (req, res) => {
              done.push({ body: req.originalUrl, approval: undefined })
              res.json({ done: true })
            }
            inner.post(['/a/:id/rename', '/a/:id/close'], express.json(), rule, run)
            inner.post(/^\/files\/.*$/, express.json(), rule, run)
            inner.use('/used', express.json(), rule, run)
          },
        })
        const send = (to: string) => agent.post(to).send({ name: 'x' })
        await approve({ standIn }, agent, () => send(path))
        const other = await send(otherPath).expect(401)
        expect(other.body.code).toBe('step_up_required')
        expect(done).toEqual([])
        await approve({ standIn }, agent, () => send(path))
        await send(path).expect(200)
        expect(done).toHaveLength(1)
      },
    ))

  it('is the same for the path as a browser sends it, whatever its query, as /mfa/resume and withStepUp repeat it (R147)', async () => {
    const { agent, standIn } = await signedIn(undefined, {
      routes(inner) {
        inner.post(
          /^\/files\//,
          express.json(),
          requireMfa({ bind: ['name'] }),
          (_req, res) => void res.json({}),
        )
      },
    })
    await approve({ standIn }, agent, () => agent.post('/files/a|b?from=1').send({ name: 'x' }))
    await agent.post('/files/a|b?from=2').send({ name: 'x' }).expect(200)
    await approve({ standIn }, agent, () => agent.post('/files/\u0000%C3%A9"x').send({ name: 'x' }))
    await agent.post('/files/%00%C3%A9%22x').send({ name: 'x' }).expect(200)
  })

  it('is another for another host name, where the app lists several (R147)', async () => {
    const hosts = ['Shop.example', 'other.example']
    const ask = async (options: object) => {
      const { agent, standIn } = await signedIn(undefined, { options })
      const pay = (host: string) => agent.post('/pay').set('Host', host).send(BILL)
      await approve({ standIn }, agent, () => pay('shop.example'))
      return pay
    }
    await (await ask({ urls: { hosts } }))('SHOP.example:443').expect(200)
    await (await ask({ urls: { hosts } }))('other.example').expect(401)
    await (await ask({ urls: { hosts } }))('unlisted.example').expect(401)
    await (await ask({ urls: { hosts: ['shop.example'] } }))('other.example').expect(200)
    await (await ask({}))('other.example').expect(200)
  })

  it('has nothing of a path parameter or a member that is absent', async () => {
    const { agent, standIn, failures } = await signedIn(undefined, {
      routes(inner) {
        const bind = (req: Request) => ({
          type: 'payment',
          to: 'Ana',
          memo: req.body.memo,
          of: { a: undefined },
        })
        const rule = requireMfa({ bind, bindText: () => [{ label: 'To', value: 'Ana' }] })
        const absent: express.RequestHandler = (req, _res, next) => {
          // As Express 4 sets an optional parameter that the path does not have.
          Object.assign(req.params, { currency: undefined })
          next()
        }
        inner.post('/absent', express.json(), absent, rule, (_req, res) => void res.json({}))
      },
    })
    const { asked } = await approve({ standIn }, agent, () => agent.post('/absent').send({}))
    expect(asked.approval.authorization_details).toEqual({ type: 'payment', to: 'Ana', of: {} })
    await agent.post('/absent').send({}).expect(200)
    await approve({ standIn }, agent, () => agent.post('/absent').send({}))
    await agent.post('/absent').send({ memo: '' }).expect(401)
    expect(failures).toEqual([])
  })

  it('tells texts, numbers and booleans apart, and fields with each other’s values', () =>
    everyCase(
      [
        [{ amount: '250' }, { amount: 250 }],
        [{ amount: 250 }, { amount: '250' }],
        [{ amount: true }, { amount: 'true' }],
        [{ amount: '250.00' }, { amount: '250.00 ' }],
        [
          { amount: '1', to: '2' },
          { amount: '2', to: '1' },
        ],
        // The same letters in two forms of Unicode.
        [{ to: 'Jos\u00e9' }, { to: 'Jose\u0301' }],
      ] as const,
      async ([approved, sent]) => {
        const { agent, standIn, done } = await signedIn()
        await approve({ standIn }, agent, () => agent.post('/pay').send({ ...BILL, ...approved }))
        await agent
          .post('/pay')
          .send({ ...BILL, ...sent })
          .expect(401)
        expect(done).toEqual([])
      },
    ))

  it('is the same in a form and in JSON, in any order of the fields, and with others beside them', async () => {
    const { agent, standIn, done } = await signedIn()
    await approve({ standIn }, agent, () => agent.post('/pay').send(BILL))
    await agent.post('/pay').type('form').send({ note: 'rent', to: BILL.to, amount: BILL.amount }).expect(200)
    expect(done).toHaveLength(1)
  })

  it('is of the value that the handler gets: a number however it is written, and the last of members with one name', async () => {
    const { agent, standIn, done } = await signedIn()
    await approve({ standIn }, agent, () => sendText(agent, '{"amount":2.5e2,"to":"Ana"}'))
    await sendText(agent, '{"to":"Ana","amount":250.00}').expect(200)
    await approve({ standIn }, agent, () => sendText(agent, '{"amount":"1","amount":"250","to":"Ana"}'))
    await sendText(agent, '{"amount":"250","amount":"1","to":"Ana"}').expect(401)
    await approve({ standIn }, agent, () => sendText(agent, '{"amount":"1","amount":"250","to":"Ana"}'))
    await agent.post('/pay').send({ amount: '250', to: 'Ana' }).expect(200)
    expect(done.map(({ body }) => body)).toEqual([
      { amount: 250, to: 'Ana' },
      { amount: '250', to: 'Ana' },
    ])
  })
})
