import type { Command } from 'commander'
import { WEBHOOK_EVENT_TYPES } from 'countersign/protocol'
import type { Operator } from '../operator/operator.js'
import { createCommands } from './commands-of.js'
import { formatTable, type Io, limitOption, type Printed, printList } from './output.js'

const EXAMPLES = `
Examples:
  countersign-service webhook create vault --url https://vault.example/events --events user.locked,message.failed
  countersign-service webhook deliveries vault ep_0123456789abcdef

These endpoints get events. The webhook that delivers an application's messages is set with "app webhook".`

/** Changes of an endpoint that have no result: the command, its description and what it says afterwards. */
const CHANGES = [
  ['pause', 'let the events of an endpoint wait until it is resumed', 'Paused'],
  ['resume', 'post events to a paused or disabled endpoint again', 'Resumed'],
  ['remove', 'remove an endpoint and its events', 'Removed'],
] as const

/** `webhook create|list|pause|resume|remove|rotate-secret|test|deliveries|resend`. */
export function eventCommands(program: Command, io: Io): void {
  const command = program
    .command('webhook')
    .description('manage the endpoints to which events of applications are posted, such as user.locked')
    .addHelpText('after', EXAMPLES)

  const { read, change } = createCommands(command, io)

  change(
    'create <application>',
    'create an endpoint and print its secret, which is shown only this once',
    async ({ events }, application: string, own: { url: string; events: string }) => {
      const types =
        own.events === 'all' ? WEBHOOK_EVENT_TYPES : own.events.split(',').map((type) => type.trim())
      const created = await events.create(application, { url: own.url, types })
      const hint = `This is the secret of the endpoint ${created.id} of "${application}". It is not shown again.`
      return { result: { application, ...created }, text: created.secret, hint }
    },
  )
    .requiredOption('--url <address>', 'where to post its events')
    .requiredOption('--events <list>', `which events: ${WEBHOOK_EVENT_TYPES.join(',')}, or all`)

  read(
    'list <application>',
    'list the endpoints of an application with their state',
    async ({ events }, application: string) =>
      printList(
        await events.list(application),
        ...(['id', 'url', ['types', 'events'], 'state', 'queued', 'failingSince'] as const),
      ),
  )

  for (const [name, description, done] of CHANGES) {
    change(
      `${name} <application> <endpoint>`,
      description,
      async ({ events }, application: string, endpoint: string) => {
        await events[name]({ application, endpoint })
        return { result: { application, endpoint, done: name }, text: `${done} ${endpoint}.` }
      },
    )
  }

  change(
    'rotate-secret <application> <endpoint>',
    'replace the secret and print the new one; for 24 hours, requests are signed with both',
    async ({ events }, application: string, endpoint: string) => {
      const { secret } = await events.rotateSecret({ application, endpoint })
      const hint = 'This is the new secret of the endpoint. It is not shown again.'
      return { result: { application, endpoint, secret }, text: secret, hint }
    },
  )

  change(
    'test <application> <endpoint>',
    'post a webhook.test once, from this machine',
    async ({ events }, application: string, endpoint: string) =>
      printAttempt(await events.test({ application, endpoint })),
  )

  read(
    'deliveries <application> <endpoint>',
    'list the latest events of an endpoint, newest first',
    async ({ events }, application: string, endpoint: string, { limit }: { limit: number }) => {
      const found = await events.deliveries({ application, endpoint }, limit)
      const shown = found.map((delivery) => ({ ...delivery, answer: delivery.answer?.slice(0, 60) }))
      const [id, type, time] = ['id', ['type', 'event'], ['createdAt', 'time']] as const
      return {
        result: found,
        text: formatTable(shown, id, type, time, 'state', 'attempts', 'status', 'answer'),
      }
    },
  ).addOption(limitOption())

  change(
    'resend <application> <endpoint>',
    'post one event again, from this machine, with the same id',
    async ({ events }, application: string, endpoint: string, event: string) =>
      printAttempt(await events.resend({ application, endpoint }, event)),
  ).argument('<event>', 'its id, as deliveries lists it')
}

function printAttempt(result: Awaited<ReturnType<Operator['events']['test']>>): Printed {
  const { id, state, status, answer } = result
  const response = status === null ? (answer ?? '') : `The endpoint responded with ${status}.`
  return { result, text: `${id} ${state}. ${response}` }
}
