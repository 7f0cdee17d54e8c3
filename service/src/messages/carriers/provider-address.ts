import type { Channel } from '../message.js'
import {
  decode,
  gatewayUrl,
  isMailSender,
  isSender,
  nameOf,
  senderOf,
  unknownParameter,
} from './address-parts.js'
import type { Route } from './route.js'

interface Provider {
  readonly channel: Channel
  readonly form: string
  readonly parameters: readonly string[]
  /** The route, or what is missing. */
  parse(url: URL): Route | string
}

const AWS_HOST = /\.([a-z]{2}(?:-[a-z]+)+-\d)\.amazonaws\.com(\.cn)?$/

/** The providers with an API of their own, by the scheme of their addresses. */
const PROVIDERS: Readonly<Record<string, Provider>> = {
  ses: {
    channel: 'email',
    form: 'ses://ACCESS_KEY_ID:SECRET_ACCESS_KEY@email.eu-west-1.amazonaws.com?from=…',
    parameters: ['from', 'reply-to', 'configuration-set', 'region'],
    parse(url) {
      const credentials = awsCredentials(url, 'ses')
      const from = url.searchParams.get('from')
      const replyTo = url.searchParams.get('reply-to') ?? undefined
      if (typeof credentials === 'string') return credentials
      if (!from || !isMailSender(from)) return 'the sender ?from=no-reply@vault.example'
      if (replyTo !== undefined && !isMailSender(replyTo)) return 'a mailbox as reply-to'
      const configurationSet = url.searchParams.get('configuration-set') ?? undefined
      const settings = { baseUrl: gatewayUrl(url), credentials, from, replyTo, configurationSet }
      return { by: 'ses', settings: { ...settings, name: nameOf(url) } }
    },
  },
  sns: {
    channel: 'sms',
    form: 'sns://ACCESS_KEY_ID:SECRET_ACCESS_KEY@sns.eu-west-1.amazonaws.com',
    parameters: ['from', 'region'],
    parse(url) {
      const credentials = awsCredentials(url, 'sns')
      const from = senderOf(url)
      if (typeof credentials === 'string') return credentials
      if (from !== undefined && !isSender(from)) return SENDER
      return { by: 'sns', settings: { baseUrl: gatewayUrl(url), credentials, from, name: nameOf(url) } }
    },
  },
  vonage: {
    channel: 'sms',
    form: 'vonage://KEY:SECRET@rest.nexmo.com?from=…',
    parameters: ['from'],
    parse(url) {
      const [apiKey, apiSecret, from] = [decode(url.username), decode(url.password), senderOf(url)]
      if (!apiKey || !apiSecret) return 'API key and secret'
      if (from === undefined || !isSender(from)) return SENDER
      return {
        by: 'vonage',
        settings: { baseUrl: gatewayUrl(url), apiKey, apiSecret, from, name: nameOf(url) },
      }
    },
  },
  messagebird: {
    channel: 'sms',
    form: 'messagebird://ACCESS_KEY@rest.messagebird.com?from=…',
    parameters: ['from'],
    parse(url) {
      const [accessKey, from] = [decode(url.username), senderOf(url)]
      if (!/^[\x21-\x7e]+$/.test(accessKey)) return 'the access key'
      if (from === undefined || !isSender(from)) return SENDER
      return { by: 'messagebird', settings: { baseUrl: gatewayUrl(url), accessKey, from, name: nameOf(url) } }
    },
  },
}

const SENDER =
  'the sender ?from=, a number such as +447700900123, a short code or a name of at most 11 letters'

/** The forms of the addresses of all providers, for messages about invalid addresses. */
export const PROVIDER_FORMS = Object.values(PROVIDERS).map(({ form }) => `\`${form}\``)

/** Whether an address belongs to a provider. */
export function isProviderAddress(url: URL): boolean {
  return Object.hasOwn(PROVIDERS, schemeOf(url))
}

/** The route of a provider's address, a fault as a sentence, or `undefined` if `isRest` and it cannot serve this channel. */
export function parseProviderAddress(
  url: URL,
  channel: Channel,
  isRest: boolean,
): Route | string | undefined {
  const scheme = schemeOf(url)
  const provider = PROVIDERS[scheme]
  if (!provider) return undefined
  const by = `delivery by ${scheme}`
  if (channel !== provider.channel)
    return isRest ? undefined : `${by} serves ${provider.channel} only, not ${channel}.`
  if (!url.hostname) return `${by} needs a host: ${provider.form}`
  const unknown = unknownParameter(url, provider.parameters)
  if (unknown) return `${by} has no parameter "${unknown}": use ${provider.parameters.join(', ')}.`
  const route = provider.parse(url)
  return typeof route === 'string' ? `${by} needs ${route}: ${provider.form}` : route
}

function schemeOf(url: URL): string {
  return url.protocol.replace(/(\+http)?:$/, '')
}

function awsCredentials(url: URL, service: string) {
  const [accessKeyId, secretAccessKey] = [decode(url.username), decode(url.password)]
  if (!/^\w{4,128}$/.test(accessKeyId) || !secretAccessKey) return 'access key id and secret access key'
  const region = url.searchParams.get('region') ?? AWS_HOST.exec(url.hostname)?.[1]
  if (region === undefined || !/^[a-z0-9-]{2,30}$/.test(region)) return 'the host of a region, or ?region='
  return { accessKeyId, secretAccessKey, region, service }
}
