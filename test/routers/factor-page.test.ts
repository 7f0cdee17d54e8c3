import { describe, expect, it } from 'vitest'
import type { FactorInput, MfaOptions } from '../../src/index.js'
import { everyCase } from '../kit/every-case.js'
import { host, signIn, signInFully, type TestUser } from '../kit/host.js'
import { standInService } from '../kit/stand-in-service.js'

const PHONE: FactorInput = { method: 'sms', phone: '+447700900102', manageUrl: '/account/phone?of=1' }
const APP: FactorInput = { method: 'app', user: 'bob@example.com' }

/** The factor page of a user who has these factors. */
async function factorPage(
  factors: FactorInput[],
  options: Partial<MfaOptions<TestUser>> = {},
  standIn = standInService(),
) {
  const made = host({ standIn, options: { factors: () => factors, ...options } })
  made.standIn.setApp('bob@example.com', '424242')
  const agent = await (factors.length > 0 ? signInFully(made, 'bob') : signIn(made.app, 'bob'))
  return (await agent.get('/mfa').set('Accept', 'text/html').expect(200)).text
}

/** The links below the list, with their style. */
const actions = (page: string) =>
  [...page.matchAll(/<a class="mfa-(primary|secondary)" href="[^"]+">([^<]+)/g)].map(([, style, label]) => [
    style,
    label,
  ])

describe('the factor page', () => {
  it('offers an authenticator app first to a user without one', async () => {
    expect(actions(await factorPage([PHONE]))).toEqual([
      ['secondary', 'Set up an authenticator app'],
      ['secondary', 'Get backup codes'],
    ])
    expect(actions(await factorPage([]))).toEqual([['secondary', 'Set up an authenticator app']])
  })

  it('has trusted devices only where they are switched on and there is a second step to skip', async () => {
    expect(await factorPage([PHONE])).not.toContain('/mfa/devices')
    expect(await factorPage([], { trustedDevices: { store: 'memory' } })).not.toContain('/mfa/devices')
    expect(await factorPage([PHONE], { trustedDevices: { store: 'memory' } })).toContain('/mfa/devices')
  })

  it('leads from a factor to the page on which the host changes it', async () => {
    const page = await factorPage([PHONE])
    expect(page).toMatch(/href="\/account\/phone\?of=1">Change<span class="mfa-unseen"> Text message</)
  })

  it('leads to the page on which the host adds a contact', async () => {
    const page = await factorPage([], { pages: { addFactorPath: '/account/phone' } })
    expect(page).toContain('href="/account/phone">Add a phone number or email address</a>')
  })

  it('shows the number of backup codes, and offers the first ones to a user who has none', async () => {
    const standIn = standInService()
    Object.assign(standIn.service, {
      factorsOf: async () => ({ existing: [{ method: 'app', usable: true }], backupCodesLeft: 0 }),
    })
    const page = await factorPage([APP, PHONE], {}, standIn)
    expect(page).toContain('You have no backup codes.')
    expect(actions(page)).toEqual([
      ['secondary', 'Replace your authenticator app'],
      ['secondary', 'Get backup codes'],
    ])
  })
})

describe('when a factor was last used', () => {
  it('is on the factor page as a date in the language of the page, for each contact, if the service says', async () => {
    const standIn = standInService()
    const at = Date.UTC(2027, 2, 1, 23)
    const lastUsed = [
      { type: 'PHONE', user: '+447700900102', at },
      { type: 'PHONE', user: '+447700900109', at: Date.UTC(2026, 0, 1) },
    ]
    Object.assign(standIn.service, {
      factorsOf: async () => ({ existing: [{ method: 'app', usable: true }], backupCodesLeft: 0, lastUsed }),
    })
    const page = await factorPage([APP, PHONE], {}, standIn)
    expect(page.match(/Last used [^<]+/g)).toEqual(['Last used March 1, 2027'])
    const locale = () => 'de'
    const german = await factorPage([APP, PHONE], { languages: { locale } }, standIn)
    expect(german).toContain('Zuletzt verwendet: 1. März 2027')
  })
})

describe('the page of a factor at the host', () => {
  it('is on the same site, never another one', () =>
    everyCase(
      ['https://elsewhere.example/', '//elsewhere.example', 'javascript:alert(1)', '/\\elsewhere.example'],
      async (manageUrl) => {
        const made = host({ options: { factors: () => [{ ...PHONE, manageUrl }] } })
        const { failures } = made
        await signIn(made.app, 'bob').catch(() => undefined)
        expect(String(failures[0])).toContain('manageUrl')
        expect(String(failures[0])).toContain('must be a path on this site')
      },
    ))
})
