import type { Command } from 'commander'
import { OperatorError } from '../operator/audited-change.js'
import type { Operator } from '../operator/operator.js'
import { type CommonOptions, type Io, print, table } from './output.js'
import { READS, withOperator } from './store-access.js'

interface WebhookOptions {
  readonly url?: string
  readonly channels?: string
  readonly rotateSecret?: boolean
  readonly remove?: boolean
}

const EXAMPLES = `
Examples:
  countersign-service app webhook vault --url https://vault.example/messages --channels sms,call
  countersign-service app webhook vault --rotate-secret`

/** `app webhook`. */
export function webhookCommand(app: Command, io: Io): void {
  app
    .command('webhook')
    .argument('<name>', 'the application')
    .option('--url <address>', 'where to post its messages')
    .option('--channels <list>', 'whose messages, such as sms,call')
    .option('--rotate-secret', 'replace the secret; for 24 hours, requests are signed with both')
    .option('--remove', 'deliver its messages by the carriers of the service again')
    .description("show, set or remove an application's own webhook; its secret is printed once")
    .addHelpText('after', EXAMPLES)
    .action(async (name: string, own: WebhookOptions, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions>()
      const isChange = Object.keys(own).length > 0
      const { secret, webhook } = await withOperator(
        io,
        options,
        async (operator) => ({
          secret: isChange ? await change(operator, name, own) : undefined,
          webhook: await operator.showWebhook(name),
        }),
        isChange ? {} : READS,
      )
      print(io, options, { ...webhook, ...(secret !== undefined && { secret }) }, () => {
        if (secret !== undefined) return secret
        if (!webhook) return `"${name}" has no webhook.`
        const { url, channels, formerSecretUntil } = webhook
        const until = formerSecretUntil === null ? null : new Date(formerSecretUntil)
        return table(['url', 'channels', 'former secret until'], [[url, channels.join(','), until]])
      })
      if (secret !== undefined && !options.json) {
        io.err(`This is the secret of the webhook of "${name}". It is not shown again.`)
      }
    })
}

/** Makes one change; resolves to a new secret, if there is one. */
async function change(operator: Operator, name: string, own: WebhookOptions): Promise<string | undefined> {
  const { url, channels, rotateSecret, remove } = own
  const isSet = url !== undefined || channels !== undefined
  if ([isSet, rotateSecret, remove].filter(Boolean).length > 1) {
    throw new OperatorError('Use --url and --channels, --rotate-secret or --remove, one at a time.')
  }
  if (remove) await operator.removeWebhook(name)
  else if (rotateSecret) return (await operator.rotateWebhookSecret(name)).secret
  else {
    const list = (channels ?? '').split(',').map((channel) => channel.trim())
    const set = { url: url ?? '', channels: list.filter((channel) => channel !== '') }
    return (await operator.setWebhook(name, set)).secret
  }
  return undefined
}
