import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { operator } from '../src/operator/operator.js'
import { describeOnBothDatabases } from './both-databases.js'
import { advance, freshEmail, freshPhone, freshTenant, rejection, stopClock, type Tenant } from './kit.js'

beforeEach(() => stopClock())
afterEach(() => vi.useRealTimers())

describeOnBothDatabases((bench) => {
  const desk = () => operator(bench().store, 'ann', { keys: () => bench().context.keys })
  const storedTenant = async () => {
    const tenant = freshTenant(bench())
    await desk().createApplication(tenant.application.id)
    return tenant
  }
  /** Sends a code to a contact, and types it unless told otherwise. */
  async function prove({ mfa, lastCode }: Tenant, contact: string, account?: string, isTyped = true) {
    const to = contact.includes('@')
      ? ({ method: 'email', contact: { kind: 'email', email: contact } } as const)
      : ({ method: 'sms', contact: { kind: 'phone', phone: contact } } as const)
    const by = account === undefined ? {} : { account }
    await mfa.send({ ...to, ...by })
    if (isTyped) await mfa.verify({ ...to, kind: 'code', code: lastCode(), ...by })
    advance(60)
  }
  const find = async (text: string) => (await desk().find(text)).users.map(({ shown }) => shown).sort()
  /** Deletes the messages, as they are a week later. */
  const forgetMessages = () => bench().store.query('DELETE FROM outbox')

  test('finds an account by the contacts that it has proven, whatever the application names it', async () => {
    const tenant = await storedTenant()
    const { email } = freshEmail()
    const { phone } = freshPhone()
    await prove(tenant, email, 'user 7')
    await prove(tenant, phone, 'user 7')
    await forgetMessages()
    const spaced = `${phone.slice(0, 3)} ${phone.slice(3, 7)}-${phone.slice(7)}`
    for (const text of [email, ` ${email.toUpperCase()} `, phone, spaced, spaced.replace('+', '00')]) {
      expect([text, await find(text)]).toEqual([text, ['user 7']])
    }
    expect(await find(`${email}:${phone}`)).toEqual(['user 7'])
    expect(await find(`${email}:${freshPhone().phone}`)).toEqual([])
    expect(await find(freshEmail().email)).toEqual([])
  })

  test('finds an account by a contact that got a code which was never typed', async () => {
    const tenant = await storedTenant()
    const { phone } = freshPhone()
    await prove(tenant, phone, 'user 8', false)
    expect(await find(phone)).toEqual(['user 8'])
    await forgetMessages()
    expect(await find(phone)).toEqual([])
  })

  test('finds the account of the contact that was proven last, and not of the one before', async () => {
    const tenant = await storedTenant()
    const [before, after] = [freshEmail().email, freshEmail().email]
    await prove(tenant, before, 'user 9')
    await prove(tenant, after, 'user 9')
    await forgetMessages()
    expect([await find(before), await find(after)]).toEqual([[], ['user 9']])
  })

  test('shows all accounts with one contact, of every application and of its test keys, and says when there are more', async () => {
    const [one, other] = [await storedTenant(), await storedTenant()]
    const { email } = freshEmail()
    await prove(one, email, 'user 1')
    await prove(other, email, 'user 2')
    await prove(
      freshTenant(bench(), { id: `${one.application.id}/test`, mode: 'test' }),
      email,
      'user 3',
      false,
    )
    await prove(other, email)
    const found = await desk().find(email)
    expect(
      found.users.map(({ application, mode, shown }) => `${application} ${mode} ${shown}`).sort(),
    ).toEqual(
      [
        `${one.application.id} live user 1`,
        `${one.application.id} test user 3`,
        `${other.application.id} live user 2`,
        `${other.application.id} live ${found.users.find(({ isAccount }) => !isAccount)?.shown}`,
      ].sort(),
    )
    expect(found.users.find(({ isAccount }) => !isAccount)?.shown).toContain('•••')
    expect(found.isCut).toBe(false)
    const { phone } = freshPhone()
    await bench().store.query(
      `INSERT INTO account (application, account, phone_hash)
       SELECT application, 'account:many ' || n, $1 FROM application, generate_series(1, 21) AS n WHERE application = $2`,
      [await hashAfterProving(other, phone), other.application.id],
    )
    const many = await desk().find(phone)
    expect([many.users.length, many.isCut]).toEqual([20, true])
  })

  async function hashAfterProving(tenant: Tenant, phone: string): Promise<string> {
    await prove(tenant, phone, 'the first of many')
    const [row] = await bench().store.query<{ phone_hash: string }>(
      "SELECT phone_hash FROM account WHERE application = $1 AND account = 'account:the first of many'",
      [tenant.application.id],
    )
    return row?.phone_hash ?? ''
  }

  test('finds an account by its name and by its reference in the log', async () => {
    const tenant = await storedTenant()
    const name = `account of ${tenant.application.id}`
    await prove(tenant, freshEmail().email, name, false)
    const [found] = (await desk().find(name)).users
    expect(found).toMatchObject({ user: name, isAccount: true, application: tenant.application.id })
    const logged = bench().events.findLast(({ application }) => application === tenant.application.id)
    expect(found?.reference).toBe(logged?.account)
    expect(await find(found?.reference ?? '')).toEqual([name])
    expect(await find((found?.reference ?? '').toUpperCase())).toEqual([name])
    const registered = 'only an app'
    await tenant.mfa.enrollApp({ contact: freshEmail(), account: registered })
    const [enrolled] = (await desk().find(registered)).users
    expect(await find(enrolled?.reference ?? '')).toEqual([registered])
    expect(await find('000000000000')).toEqual([])
  })

  test('finds accounts by the beginning of their name, if nothing has the whole name', async () => {
    const tenant = await storedTenant()
    const start = `customer ${tenant.application.id}`
    for (const name of [`${start}/10%_\\`, `${start}/11`, `${start}/2`])
      await prove(tenant, freshEmail().email, name, false)
    expect(await find(start)).toEqual([`${start}/10%_\\`, `${start}/11`, `${start}/2`])
    expect(await find(`${start}/1`)).toEqual([`${start}/10%_\\`, `${start}/11`])
    expect(await find(`${start}/10%_\\`)).toEqual([`${start}/10%_\\`])
    for (const other of [`${start}/%`, `${start}/1_`, start.slice(1), start.toUpperCase()])
      expect([other, await find(other)]).toEqual([other, []])
    await prove(tenant, freshEmail().email, start, false)
    expect(await find(start)).toEqual([start])
  })

  test('finds a contact without its domain or its last two digits, and lets nobody spell out more of it (R46)', async () => {
    const tenant = await storedTenant()
    const mailbox = `ann.${tenant.application.id}`
    const phone = `+4474${String(Date.now()).slice(-8)}`
    await prove(tenant, `${mailbox}@example.com`)
    await prove(tenant, phone)
    for (const text of [mailbox, `${mailbox}@`, mailbox.toUpperCase()])
      expect([text, await find(text)]).toEqual([text, ['a•••@e•••']])
    for (const text of [phone.slice(0, -1), phone.slice(0, -2), phone.slice(0, -2).replace('+', '00')])
      expect([text, await find(text)]).toEqual([text, [`••• ${phone.slice(-2)}`]])
    for (const text of [mailbox.slice(0, -1), `${mailbox}@e`, `${mailbox}@example.co`, phone.slice(0, -3)])
      expect([text, await find(text)]).toEqual([text, []])
  })

  test('finds a message by its id and by its reference at the carrier, and the user of a message', async () => {
    const tenant = await storedTenant()
    await prove(tenant, freshPhone().phone, 'user 4')
    const application = tenant.application.id
    const { messages } = await desk().searchMessages({ application, mode: 'live', limit: 1 })
    const id = messages[0]?.id ?? ''
    const message = { application, mode: 'live', id }
    for (const text of [id, `${id}.${application}`]) {
      expect(await desk().find(text)).toEqual({ users: [], messages: [message], isCut: false })
    }
    const found = await desk().findUserOfMessage({ application, mode: 'live', id })
    expect(found).toMatchObject({ application, mode: 'live', user: 'user 4', isAccount: true })
    for (const text of ['', ' ', 'x'.repeat(401)]) {
      expect((await rejection(desk().find(text))).message).toContain('Write an account')
    }
    const user = { application, mode: 'live', user: 'user 4', isAccount: true } as const
    await desk().eraseUser(user)
    const refused = desk().findUserOfMessage({ application, mode: 'live', id })
    expect((await rejection(refused)).message).toContain('Nothing is stored')
  })

  test('forgets the hashes of an account with the account (R104)', async () => {
    const tenant = await storedTenant()
    const { email } = freshEmail()
    await prove(tenant, email, 'user 5')
    const [found] = (await desk().find(email)).users
    await desk().eraseUser({
      application: tenant.application.id,
      mode: 'live',
      user: 'user 5',
      isAccount: true,
    })
    for (const text of [email, 'user 5', found?.reference ?? '']) {
      const { users } = await desk().find(text)
      expect(users.filter(({ application }) => application === tenant.application.id)).toEqual([])
    }
  })
})
