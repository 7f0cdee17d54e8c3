import { AwsV4Signer } from 'aws4fetch'
import { decode } from './address-parts.js'
import { type AddressFault, missing } from './carrier-kind.js'
import { type HttpResponse, httpRequest } from './http-request.js'

const AWS_HOST = /\.([a-z]{2}(?:-[a-z]+)+-\d)\.amazonaws\.com(\.cn)?$/

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

/** The headers of a request with those that sign it, by AWS Signature Version 4. `now` is in milliseconds since 1970. */
export async function signHeaders(
  request: UnsignedRequest,
  credentials: AwsCredentials,
  now: number,
): Promise<Record<string, string>> {
  const datetime = new Date(now).toISOString().replace(/[-:]|\.\d{3}/g, '')
  const { headers } = await new AwsV4Signer({ ...request, ...credentials, datetime, allHeaders: true }).sign()
  return Object.fromEntries(headers)
}

/** Posts a body with the signature of the credentials, as `httpRequest` does. */
export async function postSigned(
  server: string,
  url: string,
  post: { readonly credentials: AwsCredentials; readonly contentType: string; readonly body: string },
  signal: AbortSignal,
): Promise<HttpResponse> {
  const { credentials, contentType, body } = post
  const request = { method: 'POST', url, headers: { 'content-type': contentType }, body } as const
  const headers = await signHeaders(request, credentials, Date.now())
  return httpRequest(server, url, { ...request, headers }, signal)
}

/** The credentials in an address for a service of AWS, or what is missing. */
export function readAwsCredentials(url: URL, service: string): AwsCredentials | AddressFault {
  const [accessKeyId, secretAccessKey] = [decode(url.username), decode(url.password)]
  if (!/^\w{4,128}$/.test(accessKeyId) || !secretAccessKey) {
    return missing('access key id and secret access key')
  }
  const region = url.searchParams.get('region') ?? AWS_HOST.exec(url.hostname)?.[1]
  if (region === undefined || !/^[a-z0-9-]{2,30}$/.test(region)) {
    return missing('the host of a region, or ?region=')
  }
  return { accessKeyId, secretAccessKey, region, service }
}
