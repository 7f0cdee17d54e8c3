import { createHash, createHmac } from 'node:crypto'

/** Credentials of AWS, and what they sign for. */
export interface AwsCredentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Such as `eu-west-1`. */
  readonly region: string
  /** Such as `ses`. */
  readonly service: string
}

/** A request to sign. */
export interface UnsignedRequest {
  readonly method: 'GET' | 'POST'
  readonly url: string
  /** The headers that are signed, with lower-case names, besides `host` and `x-amz-date`. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const ALGORITHM = 'AWS4-HMAC-SHA256'

/** The headers of a request with those that sign it, by AWS Signature Version 4. `now` is in milliseconds since 1970. */
export function signedHeaders(
  { method, url, headers, body }: UnsignedRequest,
  { accessKeyId, secretAccessKey, region, service }: AwsCredentials,
  now: number,
): Record<string, string> {
  const { host, pathname, searchParams } = new URL(url)
  const time = new Date(now).toISOString().replace(/[-:]|\.\d{3}/g, '')
  const signed: Record<string, string> = { ...headers, host, 'x-amz-date': time }
  const names = Object.keys(signed).sort()
  const query = [...searchParams].map((pair) => pair.map(encode).join('=')).sort()
  const canonical = [
    ...[method, pathname, query.join('&')],
    ...names.map((name) => `${name}:${signed[name]?.trim().replace(/ +/g, ' ')}`),
    ...['', names.join(';'), sha256(body)],
  ].join('\n')
  const scope = [time.slice(0, 8), region, service, 'aws4_request']
  const key = scope.reduce<string | Buffer>((parent, part) => hmac(parent, part), `AWS4${secretAccessKey}`)
  const text = [ALGORITHM, time, scope.join('/'), sha256(canonical)].join('\n')
  const signature = createHmac('sha256', key).update(text).digest('hex')
  const { host: _host, ...sent } = signed
  const credential = `${accessKeyId}/${scope.join('/')}`
  return {
    ...sent,
    authorization: `${ALGORITHM} Credential=${credential}, SignedHeaders=${names.join(';')}, Signature=${signature}`,
  }
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** RFC 3986: also the characters that `encodeURIComponent` leaves. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
