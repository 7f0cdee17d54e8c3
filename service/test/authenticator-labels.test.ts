import { URI } from 'otpauth'
import { expect, it } from 'vitest'
import { everyCase } from '../../test/kit/every-case.js'
import { newAppSecret, otpauthUri } from '../src/accounts/authenticator-app/totp.js'

it('a label has one colon, between the name of the application and the account (R56)', () =>
  everyCase(
    [
      ['Shop', 'Shop'],
      ['Shop: Berlin', 'Shop Berlin'],
      ['Shop:Berlin', 'Shop Berlin'],
      ['a : b : c', 'a b c'],
      ["O'Neil & Söhne", "O'Neil & Söhne"],
    ],
    ([name = '', issuer]) => {
      const uri = otpauthUri(newAppSecret(), name, 'ann@example.com')
      const [, label = ''] = /^otpauth:\/\/totp\/([^?]*)/.exec(uri) ?? []
      expect(decodeURIComponent(label)).toBe(`${issuer}:ann@example.com`)
      expect(URI.parse(uri)).toMatchObject({ issuer, label: 'ann@example.com' })
    },
  ))
