import { everythingAbout } from '../kit/everything-about.js'

/*
 * Canaries are secrets that are noted where they are made, and looked for wherever something could show them. `probes.ts` says where
 * they are made; `watch.ts` and the tour bring what is searched.
 */

/** The secrets that are noted. */
export const KINDS = [
  'API key',
  'delivered code',
  'backup code',
  'bypass code',
  'authenticator secret',
  'token',
  'webhook secret',
  'email address',
  'phone number',
  'masked contact',
] as const
export type Kind = (typeof KINDS)[number]

/** The places that are searched. */
export const SINKS = [
  'log',
  'error',
  'output',
  'event',
  'answer',
  'answer to another user',
  'inspect',
  'session',
  'database',
  'database log',
  'metrics',
  'trace',
] as const
export type Sink = (typeof SINKS)[number]

const CONTACTS: readonly Kind[] = ['email address', 'phone number']

/**
 * The secrets that may be in a place, with the reason: the database of the service keeps contacts in the clear, since it writes to them; an
 * answer goes to the user whose contact it shows, who is also shown a new secret and new backup codes, and gets tokens as cookies.
 */
const PERMITTED: Readonly<Partial<Record<Sink, readonly Kind[]>>> = {
  database: CONTACTS,
  answer: [...CONTACTS, 'API key', 'authenticator secret', 'backup code', 'token', 'webhook secret'],
}

/** A secret that was seen where it must not be. */
export interface Hit {
  readonly sink: Sink
  readonly kind: Kind
  /** The text around it, with the secret replaced. */
  readonly around: string
}

const AROUND = 60

/** A shorter text, such as a made-up API key of one letter, is in others by chance. */
const SHORTEST = 4

export class Canaries {
  private readonly born = new Map<string, Kind>()
  private readonly seen: Hit[] = []
  private readonly searched = new Map<Sink, number>()

  /** Notes a secret, and returns it. */
  note<Value>(kind: Kind, value: Value): Value {
    if (typeof value === 'string' && value.length >= SHORTEST) this.born.set(value, kind)
    return value
  }

  /** Notes a mailbox, a phone number, or both. The account of an authenticator app need not be a mailbox: operators have their name there. */
  noteContact({ email, phone }: { readonly email?: unknown; readonly phone?: unknown }): void {
    if (String(email).includes('@')) this.note('email address', email)
    this.note('phone number', phone)
  }

  /** Searches a value for every secret: a text, or everything in an object. */
  search(sink: Sink, value: unknown): void {
    const text = typeof value === 'string' ? value : everythingAbout(value)
    this.searched.set(sink, (this.searched.get(sink) ?? 0) + 1)
    for (const [secret, kind] of this.born) {
      // A mask is for its owner, and for whoever reads logs and events.
      if (kind === 'masked contact' ? sink !== 'answer to another user' : PERMITTED[sink]?.includes(kind))
        continue
      for (const form of formsOf(kind, secret)) {
        const at = find(text, kind, form)
        if (at < 0) continue
        const around = text.slice(Math.max(0, at - AROUND), at + form.length + AROUND)
        this.seen.push({ sink, kind, around: around.replaceAll(form, '⟨it⟩') })
        break
      }
    }
  }

  /** The same logger, whose entries are searched. */
  searchedLogger<Entry>(log: (entry: Entry) => unknown): (entry: Entry) => unknown {
    return (entry) => {
      this.search('log', entry)
      return log(entry)
    }
  }

  /** The findings since the last call. */
  takeHits(): Hit[] {
    return this.seen.splice(0)
  }

  /** How many texts were searched, by sink, and how many secrets of each kind there are. */
  counts() {
    const kinds = [...this.born.values()]
    return {
      searched: Object.fromEntries(this.searched),
      noted: Object.fromEntries(KINDS.map((kind) => [kind, kinds.filter((one) => one === kind).length])),
    }
  }

  forget(): void {
    this.born.clear()
    this.seen.length = 0
    this.searched.clear()
  }
}

/** How a secret can be written. */
function formsOf(kind: Kind, secret: string): readonly string[] {
  const forms = [secret, encodeURIComponent(secret)]
  if (kind === 'phone number') forms.push(secret.replace('+', ''))
  if (kind === 'backup code' || kind === 'bypass code') {
    const plain = secret.replaceAll('-', '')
    forms.push(plain, plain.replace(/.{4}(?=.)/g, '$&-'), plain.toLowerCase())
  }
  // Less would be in other texts by chance.
  if (secret.length >= 16)
    forms.push(
      Buffer.from(secret)
        .toString('base64')
        .replace(/.{0,3}$/, ''),
    )
  return [...new Set(forms)]
}

/** Where a text has it. Codes are short, so that one that is a part of another number or word is none. */
function find(text: string, kind: Kind, form: string): number {
  if (kind !== 'delivered code') return text.indexOf(form)
  for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + 1)) {
    const isAlone = [text[at - 1], text[at + form.length]].every((one) => !/[\w#-]/.test(one ?? ' '))
    if (isAlone) return at
  }
  return -1
}

/** Those of this process. */
export const canaries = new Canaries()
