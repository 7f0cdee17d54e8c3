import { createService, startService } from '@countersign/service'
import { describe, expect, onTestFinished, test } from 'vitest'
import { codeIn } from '../../test/kit/message-code.js'
import { SECRET } from './kit.js'

const OPTIONS = { secret: SECRET, delivery: 'inbox', logger: () => {} } as const
const contact = { kind: 'email', email: 'ann@example.com' } as const

describe('a service that is used while it starts', () => {
  test('sends and verifies codes as soon as it has started', async () => {
    const service = startService(OPTIONS)
    onTestFinished(() => service.close())
    expect(await service.mfa.send({ method: 'email', contact })).toMatchObject({ outcome: 'sent' })
    const [message] = (await service.inbox?.messages({ to: contact.email })) ?? []
    const verified = service.mfa.verify({
      method: 'email',
      kind: 'code',
      contact,
      code: codeIn(message?.text),
    })
    expect(await verified).toMatchObject({ outcome: 'valid' })
  })

  test('has every function of a service that was awaited', async () => {
    const [early, late] = [startService(OPTIONS), await createService(OPTIONS)]
    onTestFinished(async () => void (await Promise.all([early.close(), late.close()])))
    // Only what starts has something to wait for.
    const namesIn = ({ keys, started: _, ...others }: typeof late.mfa) =>
      [...Object.keys(others), ...Object.keys(keys ?? {})].sort()
    expect(namesIn(early.mfa)).toEqual(namesIn(late.mfa))
    expect(early.mfa.codes).toEqual(late.mfa.codes)
    expect(await early.mfa.keys?.list({ contact })).toEqual(await late.mfa.keys?.list({ contact }))
    expect((await early.started).info).toEqual(late.info)
  })

  test('has an inbox only if a channel is delivered to it, and refuses wrong options at once', async () => {
    const service = startService({ ...OPTIONS, delivery: 'https://gateway.example/send' })
    onTestFinished(() => service.close())
    expect(service.inbox).toBeUndefined()
    expect(() => startService({ ...OPTIONS, secret: 'short' })).toThrow('The MFA service cannot start')
  })
})
