import { PNG } from 'pngjs'
import { describe, expect, it } from 'vitest'
import type { HttpService } from '../../src/client/service.js'
import { failure, pair } from './ask.js'
import { answer, type Behaviour } from './hostile-service.js'

const png = PNG.sync.write(new PNG({ width: 8, height: 8 })).toString('base64')
const jpeg = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), Buffer.alloc(60, 1)]).toString('base64')
const svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><path d="M0 0h1v1z"/></svg>'
const asUrl = (type: string, base64: string) => `data:image/${type};base64,${base64}`
const svgUrl = asUrl('svg+xml', Buffer.from(svg).toString('base64'))
const uri = 'otpauth://totp/Vault:alice%40example.com?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Vault'
const html = { 'Content-Type': 'text/html; charset=utf-8' }

const enroll = (client: HttpService) =>
  client.enrollApp({ contact: { kind: 'email', email: 'alice@example.com' } })

describe('a QR code is known by what it is, and shown as a data: URL', () => {
  const declared = `<?xml version="1.0"?>\n<!-- made by a tool --><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "x">\n${svg}`
  const found: readonly [string, Behaviour, string][] = [
    ['in the field qr', answer(200, { qr: png }), asUrl('png', png)],
    ['in any other field', answer(200, { status: 'ok', QRCodeImage: png }), asUrl('png', png)],
    ['deep inside', answer(200, { data: { app: [{ image: png }] } }), asUrl('png', png)],
    ['with status 201', answer(201, { qr: png }), asUrl('png', png)],
    ['as a data: URL', answer(200, { qr: asUrl('png', png) }), asUrl('png', png)],
    [
      'as a data: URL with parameters',
      answer(200, { qr: `data:image/png;charset=utf-8;base64,${png}` }),
      asUrl('png', png),
    ],
    ['as a JPEG', answer(200, { qr: jpeg }), asUrl('jpeg', jpeg)],
    ['as a JPEG that says it is a PNG', answer(200, { qr: asUrl('png', jpeg) }), asUrl('jpeg', jpeg)],
    ['as an SVG', answer(200, { qr: svg }), svgUrl],
    ['as an SVG in base64', answer(200, { qr: Buffer.from(svg).toString('base64') }), svgUrl],
    [
      'as an SVG with all that may stand before it',
      answer(200, { qr: declared }),
      asUrl('svg+xml', Buffer.from(declared).toString('base64')),
    ],
    ['in base64 with line breaks', answer(200, { qr: png.replace(/(.{20})/g, '$1\r\n') }), asUrl('png', png)],
    [
      'in base64 for URLs',
      answer(200, { qr: jpeg.replaceAll('+', '-').replaceAll('/', '_') }),
      asUrl('jpeg', jpeg),
    ],
    ['as the whole body', answer(200, png), asUrl('png', png)],
    [
      'as the whole body of a text',
      answer(200, `${png}\n`, { 'Content-Type': 'text/plain' }),
      asUrl('png', png),
    ],
    ['as the whole body that is called a page', answer(200, png, html), asUrl('png', png)],
    ['as an SVG for a body', answer(200, svg, { 'Content-Type': 'image/svg+xml' }), svgUrl],
    ['as a JSON string', answer(200, JSON.stringify(png)), asUrl('png', png)],
    [
      'as a JSON string with escaped slashes',
      answer(200, JSON.stringify(asUrl('png', png)).replaceAll('/', '\\/')),
      asUrl('png', png),
    ],
  ]
  it.each(found)('%s', async (_title, behaviour, expected) => {
    const { client } = await pair(behaviour)
    expect(await enroll(client)).toEqual({ outcome: 'prepared', qr: expected })
  })
})

describe('what is no picture is refused', () => {
  const junk: readonly [string, Behaviour][] = [
    ['nothing', answer(200)],
    ['no content', answer(204)],
    ['an object without one', answer(200, { status: 'ok' })],
    ['an address of one', answer(200, { qr: 'https://cdn.example/qr.png' })],
    ['other bytes in base64', answer(200, { qr: Buffer.alloc(60, 7).toString('base64') })],
    ['a GIF', answer(200, { qr: Buffer.from(`GIF89a${'x'.repeat(60)}`).toString('base64') })],
    [
      'a page that calls itself a picture',
      answer(200, {
        qr: asUrl('png', Buffer.from('<html><script>alert(1)</script></html>').toString('base64')),
      }),
    ],
    ['another kind of data: URL', answer(200, { qr: `data:text/html;base64,${png}` })],
    ['a script', answer(200, { qr: 'javascript:alert(1)' })],
    ['a page', answer(200, `<html>${png}</html>`, html)],
    ['a page that holds an SVG', answer(200, `<p>${svg}</p>`, html)],
    ['an SVG that does not end', answer(200, { qr: '<svg xmlns="http://www.w3.org/2000/svg">' })],
    ['a picture too deep down', answer(200, { a: { b: { c: { d: { e: png } } } } })],
    ['success: false beside one', answer(200, { success: false, qr: png })],
    ['broken JSON', answer(200, `{"qr":"${png}"`)],
    ['a broken JSON string', answer(200, `"${png}`)],
  ]
  it.each(junk)('%s', async (_title, behaviour) => {
    const { client, service } = await pair(behaviour)
    expect((await failure(enroll(client))).code).toBe('ERR_MFA_SERVICE_ANSWER')
    expect(service.calls).toHaveLength(1)
  })

  it('takes little time, even with input that is made to be slow', async () => {
    const { client } = await pair(
      answer(200, { qr: `${'<!-- -->'.repeat(7_000)}<p>`, b: `<svg ${'</svg> '.repeat(500)}x` }),
    )
    const before = process.cpuUsage()
    expect((await failure(enroll(client))).code).toBe('ERR_MFA_SERVICE_ANSWER')
    expect(process.cpuUsage(before).user).toBeLessThan(500_000)
  })
})

describe('what stands beside the QR code', () => {
  const beside = async (body: object) => {
    const { client } = await pair(answer(200, { qr: png, ...body }))
    const prepared = await enroll(client)
    if (prepared.outcome !== 'prepared') throw new Error('refused')
    return { uri: prepared.uri, secret: prepared.secret }
  }
  const secret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'

  it('finds the URI in any field, and the secret in it', async () => {
    expect(await beside({ otpauth_uri: uri })).toEqual({ uri, secret })
    expect(await beside({ data: { key_uri: uri } })).toEqual({ uri, secret })
  })

  it('uses a separate secret if it is base32', async () => {
    expect(await beside({ secret })).toEqual({ uri: undefined, secret })
    for (const wrong of ['not base32', '', 'JBSW', 7, null, [secret]]) {
      expect(await beside({ secret: wrong })).toEqual({ uri: undefined, secret: undefined })
    }
  })

  it('ignores a URI of another kind', async () => {
    expect(await beside({ uri: 'otpauth://hotp/x?secret=JBSWY3DPEHPK3PXP' })).toMatchObject({
      uri: undefined,
    })
    expect(await beside({ uri: 'javascript:alert(1)//otpauth://totp/x' })).toMatchObject({ uri: undefined })
  })
})
