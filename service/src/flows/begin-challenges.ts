import { findTransaction, type Refused, VERIFY_TYPE } from 'countersign/protocol'
import { countLockedSeconds, lockAccounts } from '../accounts/account.js'
import type { Application } from '../accounts/application.js'
import {
  CHALLENGE_FIELDS,
  type ChallengeRow,
  deriveCode,
  findActiveChallenge,
  newChallenge,
  type Owner,
  repeatChallenge,
  selectRepeatedSql,
  writeChallenges,
} from '../accounts/challenge.js'
import {
  type BudgetParameters,
  type BudgetRow,
  budgetColumns,
  budgetParameters,
  type CountedMessage,
  countMessages,
} from '../accounts/count-messages.js'
import { type BudgetedMessage, countWithinBudget } from '../accounts/message-budget.js'
import { isJudgedAfterOthers } from '../accounts/phone-traffic.js'
import { insertMessages, MESSAGE_FIELDS, type PreparedMessages } from '../messages/delivery/outbox-table.js'
import type { QueuedMessage } from '../messages/delivery/queued-message.js'
import { codeMessage, type Recipient } from '../messages/texts/compose.js'
import { perStore, runTogether, SHARED_STATEMENTS, type Sharing } from '../store/run-together.js'
import { createStoredReference } from '../store/secrets/keys.js'
import { createStatement, type Store } from '../store/store.js'
import { countSecondsUntil, HOUR_MS } from '../time.js'
import type { FlowContext } from './context.js'
import type { InputOf } from './inputs.js'
import { factorDisabled, refuseLimited, refuseLocked } from './refusals.js'

/** A challenge to begin, or to repeat with another code. */
interface Beginning {
  readonly challenge: ChallengeRow
  /** The factor that its code confirms, such as `EMAIL:dana@example.com`. */
  readonly factor: string
  readonly reference: string
  readonly now: number
  readonly counted: CountedMessage
  readonly messages: PreparedMessages['fields']
}

interface BeginningResult extends BudgetRow {
  readonly locked_until: number
  readonly disabled: boolean
  /** The challenge is no longer as it was read before. */
  readonly is_stale: boolean
  /** When the code may be sent again; `null` for a new challenge. */
  readonly resend_at: number | null
}

// A disabled contact is enabled by binding it again, so a code for that may still be sent (R26).
const BEGIN = createStatement<
  BudgetParameters & { challenges: string; messages: string; failuresBeforeDisable: number }
>(`WITH
  wanted AS MATERIALIZED (
    SELECT * FROM json_to_recordset(:challenges::json) AS wanted (nr integer, now bigint, factor text, reference text, ${CHALLENGE_FIELDS})
  ),
  held AS (${lockAccounts('wanted')}),
  repeated AS MATERIALIZED (${selectRepeatedSql('wanted')}),
  found AS MATERIALIZED (
    SELECT wanted.*, held.locked_until, repeated.resend_at AS resent_at,
      wanted.purpose <> 'enrollment' AND coalesce((
        SELECT failures FROM factor
        WHERE application = :application AND factor.account = wanted.account AND factor.factor = wanted.factor
      ), 0) >= :failuresBeforeDisable::integer AS disabled,
      wanted.sends > 1 AND repeated.nr IS NULL AS is_stale
    FROM wanted JOIN held USING (account) LEFT JOIN repeated USING (nr)
  ),
  gate AS MATERIALIZED (
    SELECT * FROM found WHERE locked_until <= now AND NOT disabled AND NOT is_stale AND coalesce(resent_at, 0) <= now
  ),
  ${countMessages('gate')},
  begun AS MATERIALIZED (SELECT gate.* FROM counted_message JOIN gate USING (nr)),
  challenged AS (${writeChallenges('begun')}),
  message AS (
    SELECT message.* FROM json_to_recordset(:messages::json) AS message (${MESSAGE_FIELDS}) JOIN counted_message USING (nr)
  ),
  queued AS (${insertMessages('message')})
  SELECT nr, locked_until, disabled, is_stale, resent_at AS resend_at, ${budgetColumns('found')} FROM found`)

const beginTogether = perStore((store) =>
  runTogether((requests: readonly Request[]) => beginAll(store, requests), {
    sharingOf: findSharing,
    ...SHARED_STATEMENTS,
  }),
)

/**
 * Begins a challenge: one statement checks lock, factor, the wait between two codes and every budget, counts the messages, and
 * writes challenge and messages. It changes nothing if the challenge is refused. Challenges of an application that are requested
 * at the same time share a statement. With `part`, the message counts in that part of the application's day, in a statement of its
 * own.
 */
async function beginChallenge(
  store: Store,
  application: Application,
  beginning: Beginning,
  part: number | undefined,
): Promise<BeginningResult> {
  const request = { application, beginning }
  if (part === undefined) return beginTogether(store)(request)
  const [result] = await begin(store, [request], part)
  return result as BeginningResult
}

/** Begins challenges of one application by one statement, and those again alone that others in it left no room for. */
async function beginAll(store: Store, requests: readonly Request[]): Promise<readonly BeginningResult[]> {
  const results = [...(await begin(store, requests, undefined))]
  const counted = requests.map(({ beginning }) => beginning.counted)
  for (const [nr, request] of requests.entries()) {
    const mayFitAlone =
      results[nr]?.traffic_refusal && isJudgedAfterOthers(request.beginning.counted, counted.slice(0, nr))
    if (mayFitAlone) [results[nr]] = (await begin(store, [request], undefined)) as [BeginningResult]
  }
  return results
}

async function begin(
  store: Store,
  requests: readonly Request[],
  part: number | undefined,
): Promise<readonly BeginningResult[]> {
  const { application } = requests[0] as Request
  const beginnings = requests.map(({ beginning }) => beginning)
  const latest = Math.max(...beginnings.map(({ now }) => now))
  const counted = beginnings.map((beginning) => beginning.counted)
  const challenges = beginnings.map(({ challenge, factor, reference, now }, nr) => ({
    ...{ nr, now, factor, reference },
    ...challenge,
  }))
  const messages = beginnings.flatMap((beginning, nr) =>
    beginning.messages.map((message) => ({ ...message, nr })),
  )
  const rows = await BEGIN.rows<BeginningResult & { nr: number }>(store, {
    ...budgetParameters(application, counted, latest, part),
    failuresBeforeDisable: application.limits.failuresBeforeDisable,
    challenges: JSON.stringify(challenges),
    messages: JSON.stringify(messages),
  })
  if (rows.length !== beginnings.length) throw new Error('The store did not answer for every challenge.')
  return rows.sort((a, b) => a.nr - b.nr)
}

interface Request {
  readonly application: Application
  readonly beginning: Beginning
}

/** A statement can change an account or a counter only once. It changes counters of traffic for all of its messages together. */
function findSharing({ application, beginning: { challenge, counted, now } }: Request): Sharing {
  const { id, limits } = application
  return {
    // With the limits, because they may have changed between two requests.
    group: [
      id,
      limits.failuresBeforeDisable,
      limits.sendsPerApplicationDay,
      limits.minConversionPercent,
      // The messages of a statement are counted in one hour, and so in one day and month.
      Math.floor(now / HOUR_MS),
    ].join(' '),
    owner: `${id} ${challenge.account}`,
    keys: counted.counters.map(({ scope, key }) => `${scope} ${key}`),
  }
}

/** A challenge whose code is written to the outbox. */
export interface Begun {
  readonly outcome: 'begun'
  readonly row: ChallengeRow
  readonly messages: QueuedMessage[]
}

/** Begins a challenge, or repeats the active one that the input names. It changes nothing when the message is refused. */
export async function beginSending(
  context: FlowContext,
  application: Application,
  input: InputOf<'send'>,
  recipients: readonly Recipient[],
  now: number,
): Promise<Begun | Refused> {
  const { account, canonicalContact, challenge, purpose = 'sign-in' } = input
  const transaction = findTransaction(input)
  const owner: Owner = { account, canonicalContact, type: VERIFY_TYPE[input.method], transaction }
  for (;;) {
    const active =
      challenge === undefined
        ? undefined
        : await findActiveChallenge(context.store, application, owner, { id: challenge, now })
    const row = active
      ? repeatChallenge(application, active, now)
      : newChallenge(context.keys, application, owner, { ...input, purpose, now })
    const messages = prepareMessages(context, application, row, recipients, now, input)
    const begun = {
      challenge: row,
      factor: `${owner.type}:${canonicalContact}`,
      reference: createStoredReference(context.keys, application.id, account),
      now,
      messages: messages.fields,
    }
    const { row: found, result } = await countWithinBudget(
      application,
      { ...createBudgetedMessage(recipients, input), isCode: true },
      now,
      {
        queries: context.store,
        run: (counted, part) => beginChallenge(context.store, application, { ...begun, counted }, part),
      },
    )
    if (found.locked_until > now) return refuseLocked(countLockedSeconds(found, now))
    if (found.disabled) return factorDisabled
    if (found.is_stale) continue
    if (found.resend_at !== null && found.resend_at > now)
      return refuseLimited(countSecondsUntil(found.resend_at, now))
    if (!result) throw new Error('The store did not look at the budgets of a message.')
    context.onBudgets?.(result.budgets)
    if (result.waitSeconds > 0) return refuseLimited(result.waitSeconds)
    if (result.traffic) return context.phoneTraffic.refuse(application, result.traffic, now)
    return { outcome: 'begun', row, messages: messages.queued }
  }
}

function prepareMessages(
  context: FlowContext,
  application: Application,
  row: ChallengeRow,
  recipients: readonly Recipient[],
  now: number,
  { approval, signIn }: Pick<InputOf<'send'>, 'approval' | 'signIn'>,
): PreparedMessages {
  const content = {
    code: deriveCode(context.keys, application, row),
    purpose: row.purpose,
    secondsLeft: countSecondsUntil(row.expires_at, now),
    named: approval?.lines,
    signIn,
    now,
  }
  const composed = recipients.map((recipient) => codeMessage(application, recipient, content))
  const about = {
    now,
    expiresAt: row.expires_at,
    account: row.account,
    challenge: row.id,
    request: context.requestId,
    operation: context.operation?.id,
  }
  return context.outbox.prepare(application.id, composed, about)
}

/** The budgets of the messages to these recipients. */
export function createBudgetedMessage(
  recipients: readonly Recipient[],
  caller: Pick<BudgetedMessage, 'account' | 'clientAddress'>,
): Omit<BudgetedMessage, 'isCode'> {
  return {
    account: caller.account,
    destinations: recipients.map(({ to }) => to.toLowerCase()),
    clientAddress: caller.clientAddress,
    phone: recipients.find(({ channel }) => channel !== 'email')?.to,
  }
}
