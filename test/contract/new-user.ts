import type { Contact } from '../../src/protocol/index.js'

let count = 100

/** A user whose contacts and account no other test uses, so that tests share no budgets. */
export function newUser() {
  count += 1
  const email = `user${count}@example.com`
  const phone = `+447700900${count}`
  return {
    account: `account-${count}`,
    email: { kind: 'email', email } satisfies Contact,
    phone: { kind: 'phone', phone } satisfies Contact,
    dual: { kind: 'dual', email, phone } satisfies Contact,
  }
}

export type NewUser = ReturnType<typeof newUser>
