import { describe, expect, test } from 'vitest'
import { everyCase } from '../../../test/kit/every-case.js'
import type { Route } from '../../src/messages/carriers/carriers.js'
import { parseDelivery } from '../../src/messages/carriers/delivery-option.js'

const kinds = (text: string) =>
  Object.fromEntries(
    Object.entries(parseDelivery(text).routes).map(([channel, routes]) => [
      channel,
      routes.map(({ by }) => by),
    ]),
  )

const smtp = (text: string): Route | undefined => parseDelivery(text).routes.email?.[0]

describe('delivery', () => {
  test('one address serves every channel that it can', () => {
    expect(Object.keys(kinds('inbox'))).toEqual(['email', 'sms', 'whatsapp', 'call'])
    expect(Object.keys(kinds('smtp://h?from=a@b.example'))).toEqual(['email'])
    expect(kinds('twilio://AC1:t@h?service=MG1')).toEqual({ sms: ['twilio'] })
    expect(kinds('twilio://AC1:t@h?from=+447700900999')).toEqual({ sms: ['twilio'], call: ['twilio'] })
    expect(kinds('twilio://AC1:t@h?from=+447700900999&content=HX1')).toEqual({
      sms: ['twilio'],
      whatsapp: ['twilio'],
      call: ['twilio'],
    })
  })

  test('a list has an address per channel, and * stands for the rest', () => {
    const from = encodeURIComponent('Vault, Inc <no-reply@vault.example>')
    const { routes, faults } = parseDelivery(
      `email=smtp://us%40er:p%25w@mail.example:2525?from=${from},sms=https://hook.example/a?x=1&secret=s3cret#gateway,*=inbox`,
    )
    expect(faults).toEqual([])
    expect(routes).toEqual({
      email: [
        {
          by: 'smtp',
          check: false,
          settings: {
            host: 'mail.example',
            port: 2525,
            secure: false,
            tls: 'required',
            connections: 5,
            user: 'us@er',
            password: 'p%w',
            from: 'Vault, Inc <no-reply@vault.example>',
          },
        },
      ],
      sms: [
        { by: 'webhook', settings: { url: 'https://hook.example/a?x=1', secret: 's3cret', name: 'gateway' } },
      ],
      whatsapp: [{ by: 'inbox', settings: {} }],
      call: [{ by: 'inbox', settings: {} }],
    })
  })

  test('several addresses are tried in the order in which they are written', () => {
    const list =
      'sms=twilio://AC1:a|b@h?from=Vault | https://backup.example/send|inbox,*=smtp://h?from=a@b.example|https://hook.example'
    expect(kinds(list)).toEqual({
      sms: ['twilio', 'webhook', 'inbox'],
      email: ['smtp', 'webhook'],
      whatsapp: ['webhook'],
      call: ['webhook'],
    })
    const [first] = parseDelivery(list).routes.sms ?? []
    expect(first).toMatchObject({ settings: { token: 'a|b' } })
  })

  test('a password is only sent unencrypted to this machine, unless the operator allows it', () => {
    const tls = (text: string) => {
      const route = smtp(text)
      return route?.by === 'smtp' ? route.settings.tls : undefined
    }
    expect(tls('smtp://u:p@mail.example?from=a@b.example')).toBe('required')
    expect(tls('smtp://u:p@127.0.0.1?from=a@b.example')).toBe('optional')
    expect(tls('smtp://mail.example?from=a@b.example')).toBe('optional')
    expect(tls('smtp://mail.example?from=a@b.example&tls=required')).toBe('required')
    expect(tls('smtp://u:p@mail.example?from=a@b.example&tls=optional')).toBe('optional')
  })

  test('a gateway is reached by https, except on this machine or with twilio+http', () => {
    const base = (text: string) => {
      const [route] = parseDelivery(text).routes.sms ?? []
      return route?.by === 'twilio' ? route.settings.baseUrl : undefined
    }
    expect(base('twilio://AC1:t@api.twilio.com?from=Vault')).toBe('https://api.twilio.com')
    expect(base('twilio://AC1:t@x.signalwire.com/api/laml/?from=Vault')).toBe(
      'https://x.signalwire.com/api/laml',
    )
    expect(base('twilio://AC1:t@localhost:4010?from=Vault')).toBe('http://localhost:4010')
    expect(base('twilio+http://AC1:t@gateway:4010?from=Vault')).toBe('http://gateway:4010')
  })

  test('refuses an option that it cannot use, and says what is expected', () =>
    everyCase(
      [
        '',
        'smtp://host',
        'sms=smtp://h?from=a@b.example',
        'http://u:p@hook.example',
        'smtp://h?from=a@b.example%0d%0aBcc:x@y.example',
        'smtp://h?from=a@b.example&form=x',
        'smtp://h?from=a@b.example&tls=maybe',
        'smtp://h?from=a@b.example&connections=0',
        'smtp://h?from=a@b.example&check=later',
        'smtp://h?from=a@b.example&ca=/nowhere.pem',
        'twilio://x',
        'twilio://AC1:t@h',
        'email=twilio://AC1:t@h?from=Vault',
        'whatsapp=twilio://AC1:t@h?from=+447700900999',
        'call=twilio://AC1:t@h?from=Vault',
        'sms=twilio://AC1:t@h?from=a%26To=b',
        'sms=twilio://AC1:t@h?from=Vault&content=../x',
        'sms=twilio://AC1:t@h?from=Vault&region=eu',
        'sms=inbox|carrier-pigeon://loft',
        'carrier=inbox',
      ],
      (text) => {
        const { faults } = parseDelivery(text)
        expect(faults).toHaveLength(1)
        expect(faults[0]).toMatch(/:/)
      },
    ))
})
