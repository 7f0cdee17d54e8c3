import type { Contact } from '../../src/protocol/index.js'

let count = 100

/** Somebody new: contacts and a name of an account that no other test uses, so that budgets do not meet. */
export function somebody() {
  count += 1
  const email = `person${count}@example.com`
  const phone = `+447700900${count}`
  return {
    account: `account-${count}`,
    email: { kind: 'email', email } satisfies Contact,
    phone: { kind: 'phone', phone } satisfies Contact,
    dual: { kind: 'dual', email, phone } satisfies Contact,
  }
}

export type Somebody = ReturnType<typeof somebody>
