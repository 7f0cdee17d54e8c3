import type { Command } from 'commander'
import { WEBHOOK_EVENT_TYPES } from 'countersign/protocol'
import type { Operator } from '../operator/operator.js'
import { type CommonOptions, type Io, limitOption, print, table } from './output.js'
import { READS, withOperator } from './store-access.js'

const EXAMPLES = `
Examples:
  countersign-service webhook create vault --url https://vault.example/events --events user.locked,message.failed
  countersign-service webhook deliveries vault ep_0123456789abcdef

These endpoints get events. The webhook that delivers an application's messages is set with "app webhook".`

/** `webhook create|list|pause|resume|remove|rotate-secret|test|deliveries|resend`. */
export function eventCommands(program: Command, io: Io): void {
  const command = program
    .command('webhook')
    .description('manage the endpoints to which events of applications are posted, such as user.locked')
    .addHelpText('after', EXAMPLES)

  /** A command that names an endpoint. */
  const ofEndpoint = (name: string, description: string) =>
    command.command(name).argument('<application>').argument('<endpoint>').description(description)
  const changes: readonly [
    string,
    string,
    string,
    keyof Pick<Operator['events'], 'pause' | 'resume' | 'remove'>,
  ][] = [
    ['pause', 'let the events of an endpoint wait until it is resumed', 'Paused', 'pause'],
    ['resume', 'post events to a paused or disabled endpoint again', 'Resumed', 'resume'],
    ['remove', 'remove an endpoint and its events', 'Removed', 'remove'],
  ]

  command
    .command('create')
    .argument('<application>')
    .requiredOption('--url <address>', 'where to post its events')
    .requiredOption('--events <list>', `which events: ${WEBHOOK_EVENT_TYPES.join(',')}, or all`)
    .description('create an endpoint and print its secret, which is shown only this once')
    .action(async (application: string, own: { url: string; events: string }, me: Command) => {
      const options = me.optsWithGlobals<CommonOptions>()
      const types =
        own.events === 'all' ? WEBHOOK_EVENT_TYPES : own.events.split(',').map((type) => type.trim())
      const created = await withOperator(io, options, ({ events }) =>
        events.create(application, { url: own.url, types }),
      )
      print(io, options, { application, ...created }, () => created.secret)
      if (options.json) return
      io.err(`This is the secret of the endpoint ${created.id} of "${application}". It is not shown again.`)
    })

  command
    .command('list')
    .argument('<application>')
    .description('list the endpoints of an application with their state')
    .action(async (application: string, _own, me: Command) => {
      const options = me.optsWithGlobals<CommonOptions>()
      const found = await withOperator(io, options, ({ events }) => events.list(application), READS)
      print(io, options, found, () =>
        table(
          ['id', 'url', 'events', 'state', 'queued', 'failing since'],
          found.map(({ id, url, types, state, queued, failingSince }) => [
            ...[id, url, types.join(','), state, queued],
            failingSince && new Date(failingSince),
          ]),
        ),
      )
    })

  for (const [name, description, done, change] of changes) {
    ofEndpoint(name, description).action(async (application: string, endpoint: string, _own, me: Command) => {
      const options = me.optsWithGlobals<CommonOptions>()
      await withOperator(io, options, ({ events }) => events[change]({ application, endpoint }))
      print(io, options, { application, endpoint, done: name }, () => `${done} ${endpoint}.`)
    })
  }

  ofEndpoint(
    'rotate-secret',
    'replace the secret and print the new one; for 24 hours, requests are signed with both',
  ).action(async (application: string, endpoint: string, _own, me: Command) => {
    const options = me.optsWithGlobals<CommonOptions>()
    const { secret } = await withOperator(io, options, ({ events }) =>
      events.rotateSecret({ application, endpoint }),
    )
    print(io, options, { application, endpoint, secret }, () => secret)
    if (!options.json) io.err('This is the new secret of the endpoint. It is not shown again.')
  })

  ofEndpoint('test', 'post a webhook.test once, from this machine').action(
    async (application: string, endpoint: string, _own, me: Command) => {
      const options = me.optsWithGlobals<CommonOptions>()
      const result = await withOperator(io, options, ({ events }) => events.test({ application, endpoint }))
      print(io, options, result, () => describe(result))
    },
  )

  ofEndpoint('deliveries', 'list the latest events of an endpoint, newest first')
    .addOption(limitOption())
    .action(async (application: string, endpoint: string, { limit }: { limit: number }, me: Command) => {
      const options = me.optsWithGlobals<CommonOptions>()
      const found = await withOperator(
        io,
        options,
        ({ events }) => events.deliveries({ application, endpoint }, limit),
        READS,
      )
      print(io, options, found, () =>
        table(
          ['id', 'event', 'time', 'state', 'attempts', 'status', 'answer'],
          found.map(({ id, type, createdAt, state, attempts, status, answer }) => [
            ...[id, type, new Date(createdAt), state, attempts, status],
            answer?.slice(0, 60),
          ]),
        ),
      )
    })

  ofEndpoint('resend', 'post one event again, from this machine, with the same id')
    .argument('<event>', 'its id, as deliveries lists it')
    .action(async (application: string, endpoint: string, event: string, _own, me: Command) => {
      const options = me.optsWithGlobals<CommonOptions>()
      const result = await withOperator(io, options, ({ events }) =>
        events.resend({ application, endpoint }, event),
      )
      print(io, options, result, () => describe(result))
    })
}

function describe({ id, state, status, answer }: Awaited<ReturnType<Operator['events']['test']>>): string {
  const response = status === null ? (answer ?? '') : `The endpoint responded with ${status}.`
  return `${id} ${state}. ${response}`
}
