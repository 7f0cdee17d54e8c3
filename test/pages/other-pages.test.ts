import { describe, expect, it } from 'vitest'
import { renderView } from '../../src/pages/render.js'
import { catalogues, pickText } from '../../src/pages/text.js'
import type { FactorView, KeyView, View } from '../../src/pages/view.js'
import { languageTag } from '../../src/protocol/language.js'
import { isDelivered, isKeyMethod, METHODS } from '../../src/protocol/methods.js'
import { everyCase } from '../kit/every-case.js'
import { FACTORS, factorOf, frame, NOW, problem, VIEWS } from './samples.js'

const LANGUAGES = [...catalogues.keys()].map(languageTag)

describe('the chooser', () => {
  const page = renderView({ page: 'choose', factors: FACTORS, preferred: 'sms-1', backup: true }, frame)
  const order = [...page.matchAll(/value="([\w-]+-1)"|factor=([\w-]+-1)/g)].map(
    ([, posted, linked]) => posted ?? linked,
  )

  it('says what happens next where there is one option, in every language and for every method', () =>
    everyCase(
      LANGUAGES.flatMap((locale) => METHODS.map((method) => [locale, method] as const)),
      ([locale, method]) => {
        const { words } = pickText([locale], catalogues)
        const one = { page: 'choose', factors: [factorOf(method)], backup: false } as const
        const only = renderView(one, { ...frame, locales: [locale] })
        expect(only).not.toContain('mfa-choice"')
        expect(only).not.toContain(`<h1>${words.choose.title}</h1>`)
        const heading = /<h1>(.*?)<\/h1>/.exec(only)?.[1] ?? ''
        expect(heading.includes('••• 57')).toBe(isDelivered(method))
        expect(only).toContain(
          isDelivered(method) ? 'action="/mfa/challenge"' : `/mfa/verify?factor=${method}-1`,
        )
      },
    ))

  it('shows the preferred factor first and the others in order', () => {
    const others = FACTORS.map(({ id }) => id).filter((id) => id !== 'sms-1')
    expect(order).toEqual(['sms-1', ...others])
    expect(page.match(/mfa-choice-preferred/g)).toHaveLength(1)
  })

  it('has forms for methods that send a code and links for others', () => {
    expect(page.match(/action="\/mfa\/challenge"/g)).toHaveLength(
      FACTORS.filter(({ method }) => isDelivered(method)).length,
    )
    for (const factor of ['app-1', 'security-key-1', 'passkey-1']) {
      expect(page).toContain(`href="/mfa/verify?factor=${factor}"`)
    }
  })

  it('says on each button what it does', () => {
    const text = page.replace(/<[^>]+>/g, '')
    for (const words of [
      'Text a code to ••• 57',
      'Call ••• 57',
      'Email a code to a…e@example.com',
      'one code by email and text',
    ]) {
      expect(text).toContain(words)
    }
  })

  it('calls no factor less secure, which a user who signs in cannot change', () => {
    expect(page).not.toMatch(/least secure|less secure/i)
  })
})

describe('setting up an app', () => {
  const page = renderView(
    {
      page: 'enroll',
      qr: 'data:image/png;base64,AAAA',
      uri: 'otpauth://totp/Vault:alice?secret=ABCDEFGHIJ&issuer=Vault',
      secret: 'ABCDEFGHIJ',
    },
    { ...frame, purpose: 'manage' },
  )

  it('shows the QR code with an alternative text', () => {
    expect(page).toMatch(
      /src="data:image\/svg\+xml;base64,[\w+/=]+" alt="QR code for your authenticator app"/,
    )
  })

  it('shows the key in groups of four and copies it without spaces', () => {
    expect(page).toContain('>ABCD EFGH IJ</code>')
    expect(page).toContain('hidden data-mfa-copy="ABCDEFGHIJ"')
  })

  it('opens the app on the same phone', () => {
    expect(page).toContain('href="otpauth://totp/Vault:alice?secret=ABCDEFGHIJ&amp;issuer=Vault"')
  })

  it('posts the first code', () => {
    expect(page).toContain('action="/mfa/enroll-app/confirm"')
  })

  it('recommends backup codes afterward', () => {
    expect(renderView({ page: 'enrolled', backup: true }, frame)).toContain('href="/mfa/backup"')
  })

  it('recommends adding a contact if backup codes cannot be sent', () => {
    const page = renderView({ page: 'enrolled', backup: false }, frame)
    expect(page).not.toContain('/mfa/backup')
    expect(page).toContain('Also add an email address or phone number to your Vault account')
  })
})

describe('the overview', () => {
  it('offers only what is available', () => {
    const manage = { ...frame, purpose: 'manage' } as const
    const all = renderView({ page: 'overview', factors: FACTORS, backup: true }, manage)
    expect(all).toContain('href="/mfa/enroll-app">Replace your authenticator app')
    expect(all).toContain('href="/mfa/backup"')
    const none = renderView({ page: 'overview', factors: FACTORS, backup: false, enroll: false }, manage)
    expect(none).not.toMatch(/\/mfa\/(enroll-app|backup)/)
  })

  const overviews = Object.keys(VIEWS).filter((name) => name.startsWith('overview'))

  it('has at most one primary action, which adds a passkey, and what removes a factor beside it', () =>
    everyCase(overviews, (name) => {
      const page = renderView(VIEWS[name as keyof typeof VIEWS], frame)
      const primary = [...page.matchAll(/<a class="mfa-primary"[^>]*>[^<]*/g)].map(([link]) => link)
      expect(primary).toEqual(
        'keys' in VIEWS[name as keyof typeof VIEWS]
          ? ['<a class="mfa-primary" href="/mfa/keys">Add a passkey']
          : [],
      )
      for (const [link] of page.matchAll(/<a[^>]+\/remove.*?<\/a>/g)) {
        expect(page).toMatch(new RegExp(`<li>(?:(?!</li>).)*${link.replace(/[.?*+()]/g, '\\$&')}</li>`, 's'))
      }
    }))

  it('has the ways to sign in, the backup codes and the browsers as groups, each with its actions', () => {
    const view = { ...VIEWS['overview with factors to remove'], keys: true, devices: true } as const
    const groups = renderView(view, frame)
      .split('<section class="mfa-group">')
      .slice(1)
      .map((group) => ({
        heading: /<h2>(.*?)<\/h2>/.exec(group)?.[1],
        actions: [...group.matchAll(/<a class="mfa-(?:primary|secondary)" href="([^"]*)"/g)].map(
          ([, to]) => to,
        ),
      }))
    expect(groups).toEqual([
      { heading: 'Ways to confirm it’s you', actions: ['/mfa/keys', '/mfa/enroll-app'] },
      { heading: 'Backup codes', actions: ['/mfa/backup'] },
      { heading: 'Trusted browsers', actions: ['/mfa/devices'] },
    ])
  })

  it('offers the first backup codes to a user of whom none are known, and new ones to a user who has some', () => {
    const view = { page: 'overview', factors: FACTORS, backup: true } as const
    const action = /href="\/mfa\/backup">([^<]+)/
    expect(action.exec(renderView(view, frame))?.[1]).toBe('Get backup codes')
    expect(action.exec(renderView({ ...view, backupCodesLeft: 0 }, frame))?.[1]).toBe('Get backup codes')
    expect(action.exec(renderView({ ...view, backupCodesLeft: 1 }, frame))?.[1]).toBe('Get new backup codes')
  })

  it('tells two passkeys of one name apart, by when they were added and used', () => {
    const one = { id: 'a', method: 'passkey', name: 'Passkey', synced: true, createdAt: NOW } as const
    const other = { ...one, id: 'b', createdAt: NOW - 86_400_000, lastUsedAt: NOW - 3_600_000 }
    const factors = FACTORS.filter(({ method }) => method === 'sms' || method === 'passkey')
    const view = { page: 'overview', factors, backup: false, listedKeys: [one, other] } as const
    const items = renderView(view, frame)
      .match(/<li><svg.*?<\/li>/gs)
      ?.filter((item) => item.includes('Passkey'))
    expect(items).toHaveLength(2)
    expect(items?.[0]).toContain('Added January 1, 2030')
    expect(items?.[0]).not.toContain('Last used')
    expect(items?.[1]).toContain('Added December 31, 2029')
    expect(items?.[1]).toContain('Last used January 1, 2030')
    expect(items?.[1]).toContain('href="/mfa/keys/remove?key=b"')
  })

  it('shows the contact of an authenticator app or a key nowhere, since it only names the account', () =>
    everyCase(['overview', 'choose', 'remove backup codes'] as const, (name) => {
      const keptToAccount = FACTORS.filter(({ method }) => method === 'app' || isKeyMethod(method))
      const shown = { factors: keptToAccount, others: keptToAccount }
      const view: View = { ...VIEWS[name], ...shown }
      expect(renderView(view, frame)).not.toContain('a…e@example.com')
    }))

  it('is called two-step verification, as in the sentence that leads to it, in every language', () =>
    everyCase(LANGUAGES, (locale) => {
      const { words } = pickText([locale], catalogues)
      const { title, none } = words.overview
      // Words change their endings within a sentence.
      const stems = title.split(' ').map((word) => word.toLocaleLowerCase(locale).slice(0, 5))
      for (const stem of stems) expect(none.toLocaleLowerCase(locale)).toContain(stem)
      expect(
        renderView({ page: 'overview', factors: FACTORS, backup: true }, { ...frame, locales: [locale] }),
      ).toContain(`<h1>${title}</h1>`)
    }))
})

describe('a destructive button', () => {
  it('is marked as one wherever something of the user is removed', () =>
    everyCase(
      [
        renderView({ page: 'remove', factor: 'app', others: FACTORS, revokesDevices: true }, frame),
        renderView({ page: 'remove', factor: 'backup', others: FACTORS, revokesDevices: false }, frame),
        renderView(VIEWS['remove a key'], frame),
      ],
      (page) => expect(page).toMatch(/<button class="mfa-primary mfa-danger">Remove<\/button>/),
    ))

  it('is not marked where nothing is removed', () => {
    expect(renderView({ page: 'backup', to: 'a…e@example.com' }, frame)).not.toContain('mfa-danger')
  })
})

describe('a key that is named after its kind', () => {
  const key = (method: 'passkey' | 'security-key', name: string): KeyView => ({
    id: 'a2V5LTE',
    method,
    name,
    synced: true,
    createdAt: NOW,
  })
  const times = (page: string, word: string) =>
    // A label that only screen readers meet tells two buttons apart.
    page
      .replace(/[\s\S]*<main/, '')
      .replace(/<span class="mfa-unseen">.*?<\/span>/g, '')
      .match(new RegExp(`>\\s*${word}(?=[<\\s])`, 'g'))?.length ?? 0

  it('does not say it again in the list of keys, and says it beside any other name', () => {
    const page = (one: KeyView) => renderView({ ...VIEWS.keys, keys: [one], methods: [] }, frame)
    expect(times(page(key('passkey', 'Passkey')), 'Passkey')).toBe(1)
    expect(page(key('passkey', 'Passkey'))).toContain('<span class="mfa-hint">Synced</span>')
    expect(times(page(key('security-key', 'Security key')), 'Security key')).toBe(1)
    expect(page(key('passkey', 'Ana’s phone'))).toContain('<span class="mfa-hint">Passkey · Synced</span>')
  })

  it('does not say it again in the overview, in the chooser and before a removal', () => {
    const labelled: FactorView = { id: 'passkey-1', method: 'passkey', to: '', label: 'Passkey' }
    const views = {
      overview: renderView({ page: 'overview', factors: [labelled], backup: false }, frame),
      removal: renderView(
        { page: 'remove', factor: 'app', others: [labelled], revokesDevices: false },
        frame,
      ),
    }
    for (const page of Object.values(views)) expect(times(page, 'Passkey')).toBe(1)
    const chooser = renderView({ page: 'choose', factors: [labelled], backup: false }, frame)
    expect(times(chooser, 'Passkey')).toBe(0)
    expect(chooser).toContain('Use your passkey')
    const named = { ...labelled, label: 'Ana’s phone' }
    expect(renderView({ page: 'choose', factors: [named], backup: false }, frame)).toContain('Ana’s phone')
  })
})

describe('a duration', () => {
  it('of 24 hours is in hours, like the time until then, in every language', () =>
    everyCase(LANGUAGES, (locale) => {
      const text = pickText([locale], catalogues)
      const number = new Intl.NumberFormat(locale).format(24)
      expect(text.lengthOf(24 * 3_600_000)).toContain(number)
      expect(text.inTime(24 * 3_600)).toContain(number)
    }))

  it('is in days from two days on', () => {
    const text = pickText(['en'], catalogues)
    expect([36, 48, 720].map((hours) => text.lengthOf(hours * 3_600_000))).toEqual([
      '36 hours',
      '2 days',
      '30 days',
    ])
  })
})

describe('backup codes', () => {
  it('are sent with a button, to a contact that the page shows', () => {
    const page = renderView({ page: 'backup', to: 'a…e@example.com' }, frame)
    expect(page).toContain('method="post" action="/mfa/backup"')
    expect(page).toContain('a…e@example.com')
  })

  it('are not offered without a contact to send them to', () => {
    const page = renderView({ page: 'backup' }, { ...frame, purpose: 'manage' })
    expect(page).toContain('We have no contact for backup codes')
    expect(page).not.toContain('<form')
  })
})

describe('a page that a first factor is required on', () => {
  it('says so as a note, and is no error', () => {
    const message = { tone: 'note', code: 'enrollment_required' } as const
    const page = renderView(VIEWS['enroll start'], { ...frame, purpose: 'manage', message })
    expect(page).toContain('<title>Set up an authenticator app – Vault</title>')
    expect(page).toMatch(
      /<div class="mfa-message" id="mfa-message" role="status">.*Set up two-step verification first/,
    )
    expect(page).not.toMatch(/role="alert"|mfa-message-error/)
  })
})

describe('the page of a key without attempts', () => {
  it('says why it asks to begin anew', () => {
    expect(renderView(VIEWS['key exhausted'], frame)).toContain('There were too many failed attempts.')
    expect(
      renderView(VIEWS['key exhausted'], { ...frame, message: problem('challenge_exhausted') }),
    ).not.toContain('There were too many failed attempts.')
  })
})

describe('the file of backup codes', () => {
  const nameIn = (more: object) =>
    /download="([^"]*)"/.exec(renderView(VIEWS['backup codes'], { ...frame, ...more }))?.[1]

  it('is named after the app, the account and the day, without what a file system refuses', () => {
    expect(nameIn({ accountName: 'ana@example.com' })).toBe(
      'backup-codes-Vault-ana@example.com-2030-01-01.txt',
    )
    expect(nameIn({ appName: 'My <Shop> & Co/..\\', accountName: 'Zoë 東京' })).toBe(
      'backup-codes-My-Shop-Co-..-Zoë-東京-2030-01-01.txt',
    )
    expect(nameIn({})).toBe('backup-codes-Vault-2030-01-01.txt')
  })
})

describe('a page where nothing goes on', () => {
  it('says when a lock ends, and not when the pending login does', () => {
    const page = renderView({ page: 'stop', message: problem('locked', 7000), next: 'retry' }, frame)
    expect(page).toContain('You can try again in 2 hours.')
    expect(page).toContain('data-mfa-left="7000"')
    expect(page).not.toContain('This sign‑in expires')
  })

  it('links to the pages of the host', () =>
    everyCase(
      [
        ['sign-in', '/login'],
        ['retry', '/mfa'],
        ['home', '/account'],
      ] as const,
      ([next, path]) => {
        const page = renderView({ page: 'stop', message: problem('service_unavailable'), next }, frame)
        expect(page).toContain(`<a class="mfa-primary" href="${path}">`)
      },
    ))
})
