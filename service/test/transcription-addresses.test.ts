import { readdir, readFile } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import type { LookupFunction } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { everyCase } from '../../test/kit/every-case.js'
import { type TemporaryFolder, temporaryFolder } from '../../test/kit/temporary-folder.js'
import { type AddressRules, parseHost } from '../src/safe-fetch/public-agent.js'
import { DEFAULT_LIMITS, type RecordingLimits } from '../src/transcription/recording-limits.js'
import { createAddressSource } from '../src/transcription/sources/from-address.js'
import { collectGarbageSoon } from './collect-garbage.js'
import { listen } from './kit.js'
import { countingTarget } from './recordings.js'

/** The addresses of the names in these tests. */
const NAMES: Record<string, string[]> = {
  'rebound.test': ['127.0.0.1'],
  'rebound6.test': ['::1'],
  'mapped.test': ['::ffff:127.0.0.1'],
  'compatible.test': ['::127.0.0.1'],
  'metadata.test': ['169.254.169.254'],
  'inside.test': ['10.1.2.3'],
  'mixed.test': ['93.184.215.14', '127.0.0.1'],
  'mixed6.test': ['2606:2800:21f:cb07:6820:80da:af6b:8b2c', '::1'],
  'listed.test': ['127.0.0.1'],
  'unspecified.test': ['0.0.0.0'],
  'unspecified6.test': ['::'],
  'shared.test': ['100.64.0.1'],
  'link-local6.test': ['fe80::1'],
  'nat64.test': ['64:ff9b::7f00:1'],
  'nat64-metadata.test': ['64:ff9b::a9fe:a9fe'],
  '6to4.test': ['2002:7f00:1::'],
  'teredo.test': ['2001:0:7f00:1::'],
  'translated.test': ['::ffff:0:127.0.0.1'],
  'documented6.test': ['3fff::1'],
  'late.test': ['93.184.215.14', '93.184.215.15', '93.184.215.16', '169.254.169.254'],
}

let folder: TemporaryFolder
let target: Awaited<ReturnType<typeof countingTarget>>
let asked: string[] = []
let files = 0

const lookup: LookupFunction = (hostname, options, done) => {
  asked.push(hostname)
  const addresses = (NAMES[hostname] ?? ['127.0.0.1']).map((address) => ({
    address,
    family: address.includes(':') ? 6 : 4,
  }))
  if (options.all) done(null, addresses)
  else done(null, addresses[0]?.address ?? '', addresses[0]?.family ?? 4)
}

beforeAll(async () => {
  folder = temporaryFolder()
  target = await countingTarget()
})
afterAll(async () => {
  await target.close()
  folder.remove()
})

function receive(address: string, rules: Partial<AddressRules> = {}, limits: Partial<RecordingLimits> = {}) {
  const path = join(folder.path, String(++files))
  const source = createAddressSource(address, { hosts: [], lookup, ports: [443, target.port], ...rules })
  return source.receive(path, new AbortController().signal, { ...DEFAULT_LIMITS.waiting, ...limits })
}

const refused = (reason: string, detail?: string) => ({
  outcome: 'refused',
  refusal: { reason, ...(detail !== undefined && { detail }) },
})
const IN_TIME = 'The host did not send the whole file in time, or closed the connection.'

const listed = (...hosts: string[]) =>
  hosts.map((host) => parseHost(host) ?? expect.fail(`${host} is no host`))

const PUBLIC_NAME = 'https://media.example'

/** PORT stands for the port of a listener on every address of this machine. */
const HOSTILE = [
  // this machine, by name and in every spelling of its address
  'https://localhost:PORT/a.mp3',
  'https://LOCALHOST.:PORT/a.mp3',
  'https://127.0.0.1:PORT/a.mp3',
  'https://127.0.0.1.:PORT/a.mp3',
  'https://127.1:PORT/a.mp3',
  'https://127.255.255.254:PORT/a.mp3',
  'https://2130706433:PORT/a.mp3',
  'https://0x7f000001:PORT/a.mp3',
  'https://0x7f.1:PORT/a.mp3',
  'https://0177.0.0.1:PORT/a.mp3',
  'https://017700000001:PORT/a.mp3',
  'https://①②⑦.⓪.⓪.①:PORT/a.mp3',
  'https://127。0。0。1:PORT/a.mp3',
  'https://0x7f.0.0.0x1:PORT/a.mp3',
  'https://127.0.0.1:0PORT/a.mp3',
  'https:127.0.0.1:PORT/a.mp3',
  'https:\\\\127.0.0.1:PORT/a.mp3',
  'ht\ntps://127.0.0\t.1:PORT/a.mp3',
  'https://%31%32%37.0.0.1:PORT/a.mp3',
  'https://localhost.localdomain:PORT/a.mp3',
  'https://0.0.0.0:PORT/a.mp3',
  'https://0:PORT/a.mp3',
  'https://[::1]:PORT/a.mp3',
  'https://[0:0:0:0:0:0:0:1]:PORT/a.mp3',
  'https://[::]:PORT/a.mp3',
  // IPv4 embedded in IPv6
  'https://[::ffff:127.0.0.1]:PORT/a.mp3',
  'https://[::ffff:7f00:1]:PORT/a.mp3',
  'https://[::127.0.0.1]:PORT/a.mp3',
  'https://[64:ff9b::127.0.0.1]:PORT/a.mp3',
  'https://[64:ff9b:1::7f00:1]:PORT/a.mp3',
  'https://[2002:7f00:1::]:PORT/a.mp3',
  'https://[2001:0:7f00:1::]:PORT/a.mp3',
  'https://[::ffff:0:127.0.0.1]:PORT/a.mp3',
  'https://[::ffff:169.254.169.254]/latest/meta-data/',
  'https://[64:ff9b::a9fe:a9fe]/latest/meta-data/',
  'https://[2002:a9fe:a9fe::]/latest/meta-data/',
  // the cloud's metadata, link-local, private, shared, reserved, multicast
  'https://169.254.169.254/latest/meta-data/',
  'https://[fd00:ec2::254]/latest/meta-data/',
  'https://[fe80::1]/a.mp3',
  'https://[fe80::1%25lo]/a.mp3',
  'https://100.100.100.200/latest/meta-data/',
  'https://192.88.99.1/a.mp3',
  'https://198.51.100.1/a.mp3',
  'https://203.0.113.1/a.mp3',
  'https://[3fff::1]/a.mp3',
  'https://[5f00::1]/a.mp3',
  'https://[fc00::1]/a.mp3',
  'https://[fec0::1]/a.mp3',
  'https://[ff02::1]/a.mp3',
  'https://[2001:db8::1]/a.mp3',
  'https://[100::1]/a.mp3',
  'https://10.0.0.1/a.mp3',
  'https://172.16.0.1/a.mp3',
  'https://192.168.0.1/a.mp3',
  'https://100.64.0.1/a.mp3',
  'https://192.0.0.8/a.mp3',
  'https://192.0.2.1/a.mp3',
  'https://198.18.0.1/a.mp3',
  'https://224.0.0.1/a.mp3',
  'https://240.0.0.1/a.mp3',
  'https://255.255.255.255/a.mp3',
  // names that resolve to internal addresses, all or some of them
  'https://rebound.test:PORT/a.mp3',
  'https://rebound6.test:PORT/a.mp3',
  'https://mapped.test:PORT/a.mp3',
  'https://compatible.test:PORT/a.mp3',
  'https://metadata.test/a.mp3',
  'https://inside.test/a.mp3',
  'https://mixed.test:PORT/a.mp3',
  'https://mixed6.test:PORT/a.mp3',
  'https://unspecified.test:PORT/a.mp3',
  'https://unspecified6.test:PORT/a.mp3',
  'https://shared.test/a.mp3',
  'https://link-local6.test/a.mp3',
  'https://nat64.test:PORT/a.mp3',
  'https://nat64-metadata.test/a.mp3',
  'https://6to4.test:PORT/a.mp3',
  'https://teredo.test:PORT/a.mp3',
  'https://translated.test:PORT/a.mp3',
  'https://documented6.test/a.mp3',
  'https://late.test/a.mp3',
  // not https, another port, a user name
  'http://127.0.0.1:PORT/a.mp3',
  'http://media.example/a.mp3',
  `${PUBLIC_NAME}:8443/a.mp3`,
  `${PUBLIC_NAME}:22/a.mp3`,
  `${PUBLIC_NAME}:80/a.mp3`,
  `${PUBLIC_NAME}:0/a.mp3`,
  `${PUBLIC_NAME}:65536/a.mp3`,
  'https://user:password@media.example/a.mp3',
  'https://token@media.example/a.mp3',
  'https://media.example@127.0.0.1:PORT/a.mp3',
  'https://media.example:443@127.0.0.1:PORT/a.mp3',
  'https://127.0.0.1:PORT\\@media.example/a.mp3',
  'https://127.0.0.1:PORT#@media.example/a.mp3',
  // not a web address
  'file:///etc/passwd',
  'file://localhost/etc/passwd',
  'data:audio/wav;base64,UklGRg==',
  'gopher://127.0.0.1:PORT/_GET',
  'ftp://127.0.0.1:PORT/a.mp3',
  'ws://127.0.0.1:PORT/',
  'unix:/var/run/docker.sock',
  'concat:/etc/passwd|/etc/hostname',
  'javascript:alert(1)',
  'jar:https://127.0.0.1:PORT/a!/b',
  'dict://127.0.0.1:PORT/d:a',
  'ldap://127.0.0.1:PORT/a',
  'blob:https://127.0.0.1:PORT/a',
  'tcp://127.0.0.1:PORT',
  'https://',
  '//127.0.0.1:PORT/a.mp3',
  '/etc/passwd',
  '../../etc/passwd',
  'a.mp3',
  '',
]

describe('an address that leads to an internal host (R87)', () => {
  test('is refused, and nothing connects to it', () =>
    everyCase(HOSTILE, async (hostile) => {
      const before = target.connections()
      expect(await receive(hostile.replace('PORT', String(target.port)))).toEqual(refused('address_refused'))
      expect(target.connections()).toBe(before)
    }))

  test('is tested in at least 24 forms, none of which reached the listener or left a file', async () => {
    expect(HOSTILE.length).toBeGreaterThanOrEqual(24)
    expect(target.connections()).toBe(0)
    expect(await readdir(folder.path)).toEqual([])
  })

  test('would have reached the listener if it were allowed', async () => {
    const before = target.connections()
    const hosts = listed(`127.0.0.1:${target.port}`)
    expect(await receive(`https://127.0.0.1:${target.port}/a.mp3`, { hosts })).toEqual(
      refused('fetch_failed', IN_TIME),
    )
    expect(target.connections()).toBe(before + 1)
  })

  test('is resolved once, so that a second answer cannot differ from the first', async () => {
    asked = []
    await receive('https://rebound.test/a.mp3')
    expect(asked).toEqual(['rebound.test'])
    asked = []
    const hosts = listed(`listed.test:${target.port}`)
    await receive(`http://listed.test:${target.port}/a.mp3`, { hosts })
    expect(asked).toEqual(['listed.test'])
  })
})

describe('a host that the operator allows', () => {
  const serve = async (handler: RequestListener) => {
    const server = await listen(handler)
    onTestFinished(() => server.close())
    return { url: server.url, hosts: listed(new URL(server.url).host) }
  }

  test('is reached by http, uncompressed and without a proxy', async () => {
    const headers: unknown[] = []
    const { url, hosts } = await serve((request, response) => {
      headers.push(request.headers)
      response.writeHead(200, { 'content-type': 'audio/mpeg; charset=utf-8' }).end('sound')
    })
    const received = await receive(`${url}/a.mp3`, { hosts })
    expect(received).toMatchObject({ outcome: 'received', bytes: 5 })
    expect(await readFile('path' in received ? received.path : '', 'utf8')).toBe('sound')
    expect(headers).toEqual([
      {
        host: new URL(url).host,
        accept: 'audio/*, video/*, application/octet-stream',
        'accept-encoding': 'identity',
        connection: 'close',
      },
    ])
  })

  test('is allowed on its own port only', async () => {
    const before = target.connections()
    const { hosts } = await serve((_request, response) => void response.end())
    expect(await receive(`http://127.0.0.1:${target.port}/a.mp3`, { hosts })).toEqual(
      refused('address_refused'),
    )
    expect(target.connections()).toBe(before)
  })

  /** Redirects as often as the number in the path says, then sends the file. */
  const redirecting = (status: number) =>
    serve((request, response) => {
      const left = Number(/\d+/.exec(request.url ?? '')?.[0] ?? 0)
      if (left === 0) response.writeHead(200, { 'content-type': 'audio/mpeg' }).end('sound')
      else response.writeHead(status, { location: `/${left - 1}` }).end('moved')
    })

  test('is followed through up to three redirects (R87)', () =>
    everyCase([301, 302, 303, 307, 308], async (status) => {
      const { url, hosts } = await redirecting(status)
      expect(await receive(`${url}/3`, { hosts })).toMatchObject({ outcome: 'received', bytes: 5 })
      expect(await receive(`${url}/4`, { hosts })).toEqual(refused('address_refused'))
    }))

  test('redirects to no address that would be refused itself (R87)', () =>
    everyCase([...HOSTILE, 'mailto:ann@example.com', 'http://[', undefined], async (hostile) => {
      const before = target.connections()
      const location = hostile?.replace('PORT', String(target.port))
      // Relative addresses stay at the host that is allowed.
      if (location !== undefined && /^(\/|\.|a\.mp3|$)/.test(location) && !location.startsWith('//')) return
      const { url, hosts } = await serve((request, response) => {
        if (request.url === '/first') response.writeHead(302, { location: '/second' }).end()
        else response.writeHead(302, location === undefined ? {} : { location: encodeURI(location) }).end()
      })
      expect(await receive(`${url}/first`, { hosts })).toEqual(refused('address_refused'))
      expect(target.connections()).toBe(before)
    }))

  test('redirects within the time of one file', async () => {
    const { url, hosts } = await serve((request, response) => {
      setTimeout(() => response.writeHead(302, { location: `${request.url}/x` }).end(), 150)
    })
    expect(await receive(`${url}/a.mp3`, { hosts }, { arrivalMs: 300 })).toEqual(
      refused('fetch_failed', IN_TIME),
    )
  })

  test('is refused for the reason that fits when it answers badly', () =>
    everyCase<[string, string, RequestListener, string?]>(
      [
        ...[206, 403, 404, 410, 500].map((status): [string, string, RequestListener, string] => [
          `responds with ${status}`,
          'fetch_failed',
          (_q, r) => void r.writeHead(status).end('sound'),
          `The host answered with ${status} instead of 200.`,
        ]),
        [
          'compresses the file',
          'fetch_failed',
          (_q, r) => void r.writeHead(200, { 'content-encoding': 'gzip' }).end(),
          'The host sent the file with the encoding gzip.',
        ],
        [
          'names an encoding that is none',
          'fetch_failed',
          (_q, r) => void r.writeHead(200, { 'content-encoding': '<b>secret text of the host</b>' }).end(),
          'The host sent the file with an encoding.',
        ],
        ['hangs up', 'fetch_failed', (q) => void q.socket.destroy(), IN_TIME],
        [
          'hangs up in the middle',
          'fetch_failed',
          (q, r) =>
            void r.writeHead(200, { 'content-length': '100' }).write('sound', () => q.socket.destroy()),
          IN_TIME,
        ],
        ['never answers', 'fetch_failed', () => {}, IN_TIME],
        ['stops in the middle', 'fetch_failed', (_q, r) => void r.writeHead(200).write('sound'), IN_TIME],
        [
          'shows a page',
          'unsupported_media',
          (_q, r) => void r.writeHead(200, { 'content-type': 'text/html' }).end('<p>secret'),
        ],
        [
          'declares a file that is too large',
          'file_too_large',
          (_q, r) => void r.writeHead(200, { 'content-length': String(25 * 1024 * 1024 + 1) }).end(),
        ],
        [
          'never stops sending',
          'file_too_large',
          (_q, r) => {
            const more = () => {
              while (r.write(Buffer.alloc(65_536))) {}
            }
            r.writeHead(200).on('drain', more)
            more()
          },
        ],
      ],
      async ([_title, reason, handler, detail]) => {
        const { url, hosts } = await serve(handler)
        const arrivalMs = reason === 'file_too_large' ? 20_000 : 300
        expect(await receive(`${url}/a.mp3`, { hosts }, { arrivalMs })).toEqual(refused(reason, detail))
      },
    ))

  test('a host that does not respond is abandoned at the time limit, even after garbage collection', async () => {
    const { url, hosts } = await serve(() => {})
    const received = receive(`${url}/a.mp3`, { hosts }, { arrivalMs: 300 })
    collectGarbageSoon()
    expect(await received).toEqual(refused('fetch_failed', IN_TIME))
  })

  test('is parsed from its address, and from nothing else', () =>
    everyCase(
      [
        ['media.internal', { hostname: 'media.internal', port: undefined }],
        ['MEDIA.internal:8080', { hostname: 'media.internal', port: '8080' }],
        ['[::1]:8080', { hostname: '[::1]', port: '8080' }],
        ['10.0.0.7', { hostname: '10.0.0.7', port: undefined }],
        ['http://media.internal', undefined],
        ['media.internal/path', undefined],
        ['media.internal:99999', undefined],
        ['a b', undefined],
        ['', undefined],
      ],
      ([text, host]) => {
        expect(parseHost(text)).toEqual(host)
      },
    ))
})
