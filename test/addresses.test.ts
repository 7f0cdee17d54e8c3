import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { everyCase } from './kit/every-case.js'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** Addresses of others that documents, package files and sources name. */
const OTHERS = [
  'api.openai.com',
  'api.deepgram.com',
  'api.twilio.com',
  'auth0.com/docs/',
  'better-auth.com/docs',
  'cheatsheetseries.owasp.org',
  'cockroachlabs.com/docs/',
  'dev.to/aws-heroes/',
  'docs.aws.amazon.com',
  'docs.citusdata.com',
  'docs.yugabyte.com',
  'expressjs.com',
  'github.com/HackTricks-wiki/',
  'github.com/KathanP19/HowToHunt/',
  'iam.amazonaws.com',
  'openid.net/specs/',
  'schemas.openid.net/event/',
  'owasp.org',
  'pages.nist.gov',
  'www.pcisecuritystandards.org',
  'pglite.dev',
  'prometheus.io',
  'registry.npmjs.org',
  'semver.org',
  'unpkg.com/knip',
  'www.conventionalcommits.org',
  'www.keycloak.org/docs/',
  'www.npmjs.com/package/libphonenumber-js',
  'www.passportjs.org',
  'www.standardwebhooks.com',
  'www.twilio.com/docs/',
  'www.w3.org',
]

/** Names that nobody can register (RFC 2606, RFC 6761), names without a dot, and addresses by number. */
const RESERVED =
  /^(?:[^.]*|.*\.(?:example|test|invalid|localhost)|(?:.*\.)?example\.(?:com|net|org)|[\d.]+)$/i

const URLS = /\b(?:git\+)?(?:https?|wss?|git|ssh):\/\/(?:[^\s/@"'`<>]*@)?([\w.-]+)(?::\d+)?(\/[\w./-]*)?/gi

/** A host with our name under a common domain, or our name on a site where anybody can take it. */
const OURS =
  /\b[\w-]*countersign[\w-]*\.(?:com|net|org|dev|io|co|eu|sh|cloud|tech|github\.io|pages\.dev|vercel\.app|netlify\.app)\b|(?:github|githubusercontent|gitlab|bitbucket|codeberg|ghcr|docker|quay|npmjs)\.\w+[/:][\w./-]*countersign/gi

const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' })
  .split('\0')
  .filter(
    (path) => existsSync(join(ROOT, path)) && path !== '' && !/\.(?:png|webp|ico|wav|mp3|ogg|gz)$/.test(path),
  )
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

/** Tests name hosts of attackers, and the lock file what npm resolved. */
const pointing = tracked.filter((path) => !/(?:^|\/)test\/|\.test\.ts$|package-lock\.json$/.test(path))

function unknownIn(text: string): string[] {
  return [...text.matchAll(URLS)].flatMap(([url, host = '', path = '']) => {
    const name = host.replace(/\.+$/, '')
    return RESERVED.test(name) || OTHERS.some((other) => `${name}${path}/`.startsWith(other)) ? [] : [url]
  })
}

describe('an address in a tracked file', () => {
  it('is never one with our name, which anyone else could register', () =>
    everyCase(
      tracked.filter((path) => path !== 'test/addresses.test.ts'),
      async (path) => {
        expect([path, read(path).match(OURS) ?? []]).toEqual([path, []])
      },
    ))

  it('is reserved, or known to belong to others', () =>
    everyCase(pointing, async (path) => {
      expect([path, unknownIn(read(path))]).toEqual([path, []])
    }))

  it('is recognized in every form', () => {
    for (const text of [
      'git clone https://github.com/some-countersign/x',
      'git@github.com:countersign/countersign',
      'https://countersign.dev/docs',
      'ghcr.io/x/countersign:1',
    ])
      expect(text.match(OURS), text).not.toBeNull()
    expect(unknownIn('see https://token@unknown.com/x, wss://app.example and http://10.0.0.7:80')).toEqual([
      'https://token@unknown.com/x',
    ])
  })
})

describe('our packages, which no registry has yet', () => {
  it('have no address but `repository`, from which npm derives the others', () => {
    const [plugin, service] = ['package.json', 'service/package.json'].map((path) => JSON.parse(read(path)))
    for (const manifest of [plugin, service]) {
      expect(manifest).not.toHaveProperty('homepage')
      expect(manifest).not.toHaveProperty('bugs')
    }
    const { repository } = plugin
    expect(service.repository).toEqual(repository && { ...repository, directory: 'service' })
  })

  it('are never fetched by a command of a document', () =>
    everyCase(
      pointing.filter((path) => path.endsWith('.md')),
      async (path) => {
        const commands = read(path).match(
          /\bnpx (?:-y |--yes )?@?countersign\S*|\bnpm (?:i|install|add) (?:-\S+ )*@?countersign\S*/g,
        )
        expect([path, commands ?? []]).toEqual([path, []])
      },
    ))

  it('come from packed files in a recipe', () =>
    everyCase(
      tracked.filter((path) => /^recipes\/[^/]+\/package\.json$/.test(path)),
      async (path) => {
        const { version } = JSON.parse(read('package.json'))
        const { dependencies } = JSON.parse(read(path)) as { dependencies: Record<string, string> }
        const ours = Object.entries(dependencies).filter(([name]) => /^@?countersign\b/.test(name))
        expect(ours.length).toBeGreaterThan(0)
        for (const [name, range] of ours)
          expect(range).toBe(`file:../../${name.replace('@', '').replace('/', '-')}-${version}.tgz`)
      },
    ))
})
