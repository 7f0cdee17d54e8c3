import { addKeyId, computeDeliveredCodeMac, deriveKeys } from '../../service/dist/parts.js'
import { SECRET } from './service.mjs'

const keys = deriveKeys(SECRET)
const HEX = Array.from({ length: 65_536 }, (_, number) => number.toString(16).padStart(4, '0'))

/** The bodies of verify calls with the right code, one for each person from `first` on. */
export function verifications(first, count) {
  return Array.from({ length: count }, (_, i) => {
    const { phone, account, id, code } = person(first + i)
    return new URLSearchParams({
      User: phone,
      Type: 'PHONE',
      Code: code,
      Account: account,
      Challenge: id,
    }).toString()
  })
}

/** The bodies of calls that send a code by email, to one person each from `first` on. */
export function sends(first, count) {
  return Array.from({ length: count }, (_, i) => {
    const { account } = person(first + i)
    return new URLSearchParams({ User: `${account}@example.com`, Type: 'EMAIL', Account: account }).toString()
  })
}

/** Writes people who have signed in before and each wait for a code. `query` runs a statement with parameters. */
export async function seed(query, first, count) {
  const expires = Date.now() + 3_600_000
  for (let from = first; from < first + count; from += 5_000) {
    const people = Array.from({ length: Math.min(5_000, first + count - from) }, (_, i) => person(from + i))
    const macs = people.map(({ account, phone, code }) =>
      addKeyId(
        keys,
        computeDeliveredCodeMac(keys.codes, {
          application: 'default',
          account: `account:${account}`,
          contact: phone,
          type: 'PHONE',
          code,
        }),
      ),
    )
    const [ids, accounts, phones] = ['id', 'account', 'phone'].map((name) => people.map((one) => one[name]))
    await query(
      `INSERT INTO account (application, account, proven_phone)
       SELECT 'default', 'account:' || account, phone FROM unnest($1::text[], $2::text[]) AS person (account, phone)
       ON CONFLICT DO NOTHING`,
      [accounts, phones],
    )
    await query(
      `INSERT INTO challenge (application, id, account, contact, type, method, purpose, digits, max_attempts,
         resend_at, created_at, expires_at, code_mac)
       SELECT 'default', id, 'account:' || account, phone, 'PHONE', 'sms', 'sign-in', 6, 5, 0, 0, $5::bigint, mac
       FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS person (id, account, phone, mac)`,
      [ids, accounts, phones, macs, expires],
    )
  }
}

/** A different name for each number below 2³², in no order, so that neighbors are far apart in an index. */
export function spread(number) {
  // An odd factor maps the numbers below 2³² to each other.
  const scattered = Math.imul(number, 2_654_435_761)
  return HEX[scattered >>> 16] + HEX[scattered & 0xffff]
}

function person(number) {
  const digits = String(number).padStart(8, '0')
  return {
    phone: `+447700${digits}`.slice(0, 15),
    account: `${spread(number)}-bench`,
    id: `bench-challenge-${digits}`,
    code: digits.slice(-6),
  }
}
