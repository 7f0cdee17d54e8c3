import * as z from 'zod'
import type { Refused } from '../../flows/deps.js'
import type { Refusal } from '../../flows/refusal.js'
import type { PageMessage, View } from '../../pages/view.js'
import { type AnswerOf, type BodyOf, ROUTES, type RouteName } from '../../routes/routes.js'
import { requireCurrent } from '../../session/store.js'
import { getTokenLogin } from '../../session/transport.js'
import { type BodyFault, readBody } from '../http/body.js'
import { sendProblem } from '../http/problem.js'
import { answer } from '../tokens/answer.js'
import type { RouteContext } from './context.js'
import { type RefusedForm, sendRefusal } from './refused.js'
import { showPage, stop } from './show-page.js'

/** Responds to a user who is signed in or pending. A handler that `action` made is the one of its row only. */
export type Handler<Name extends RouteName = RouteName> = ((
  context: RouteContext,
) => Promise<void> | void) & {
  readonly row?: Name
}

/** How the outcome of a request is answered: to a client that sends JSON, and to a browser. */
export interface Responses<Name extends RouteName, Outcome> {
  json(context: RouteContext, outcome: Outcome): Reply<AnswerOf<Name>>
  page(context: RouteContext, outcome: Outcome): Reply<Page>
  /** The form that is refused, or what responds to a refusal. By default, a browser continues on a page that fits the code. */
  readonly refuse?: RefusedForm | Refuses<BodyOf<Name>>
}

type Refuses<Fields> = (context: RouteContext, refusal: Refusal, fields: Fields) => Promise<void> | void

/** The work of a request, and the answers to its outcomes. */
export interface Answered<Name extends RouteName, Outcome> extends Responses<Name, Outcome> {
  run(context: RouteContext, fields: BodyOf<Name>): Promise<Outcome | Refused>
}

/** A POST that waits for the service, a store or the host before it responds. */
export interface Action<Name extends RouteName, Outcome> extends Answered<Name, Outcome> {
  /** Changes the record before the answer. */
  store?(context: RouteContext, outcome: Outcome): Promise<void> | void
}

/** The response that a browser gets: the address that it is redirected to, or a page, which may have a message. */
type Page = string | View | { readonly view: View; readonly message: PageMessage | undefined }

type Reply<Value> = Value | Promise<Value>

const NO_FIELDS = z.object({})

/** The handler of a row, whose outcome is answered in JSON or with a page. */
export function answerOutcome<Name extends RouteName, Outcome>(
  name: Name,
  route: Answered<Name, Outcome>,
): Handler<Name> {
  return readFieldsFirst(name, async (context, fields) => {
    await respond(name, context, await route.run(context, fields), route, fields)
  })
}

/** The handler of an action. An outcome whose session ended or changed meanwhile is discarded (R06, R07). */
export function action<Name extends RouteName, Outcome>(
  name: Name,
  route: Action<Name, Outcome>,
): Handler<Name> {
  return readFieldsFirst(name, async (context, fields) => {
    const outcome = await runAdmitted(context, () => route.run(context, fields))
    if (!isRefused(outcome)) await route.store?.(context, outcome)
    await respond(name, context, outcome, route, fields)
  })
}

/** Runs what waits for others within the limit of such requests. @throws {SessionEndedError} if the session ended or changed meanwhile. */
export async function runAdmitted<Outcome>(
  { req, deps, state }: RouteContext,
  run: () => Promise<Outcome>,
): Promise<Outcome> {
  const outcome = await deps.admission.admit(run)
  await requireCurrent(req, state.record)
  return outcome
}

/** A handler that receives the fields of the body. To a malformed body, it responds with a problem, or with `faultPage`. */
export function readFieldsFirst<Name extends RouteName>(
  name: Name,
  handle: (context: RouteContext, fields: BodyOf<Name>) => Promise<void>,
  faultPage?: (context: RouteContext, fault: BodyFault) => Promise<Page>,
): Handler<Name> {
  const { method, body = NO_FIELDS, maxBodyBytes } = ROUTES[name]
  const schema = body as z.ZodType<BodyOf<Name>>
  return async (context) => {
    const { req, res, deps } = context
    if (method !== 'POST') return handle(context, {} as BodyOf<Name>)
    const read = await readBody(req, res, schema, maxBodyBytes)
    if (!('fault' in read)) return handle(context, read.fields)
    if (context.html && faultPage) return showNext(context, await faultPage(context, read.fault))
    stop(req, res, deps, read.fault, 'retry')
  }
}

/** Answers the outcome of a request: the one place that asks which of the two the client wants. */
export async function respond<Name extends RouteName, Outcome>(
  name: Name,
  context: RouteContext,
  outcome: Outcome | Refused,
  { json, page, refuse }: Responses<Name, Outcome>,
  fields: BodyOf<Name>,
): Promise<void> {
  if (isRefused(outcome)) {
    const { refusal } = outcome
    if (typeof refuse === 'function') return refuse(context, refusal, fields)
    return sendRefusal(context, refusal, refuse)
  }
  if (!context.html) {
    const body = await json(context, outcome)
    if (ROUTES[name].completesLogin && getTokenLogin(context.req)) return answer(context, context.res, body)
    return void context.res.json(body)
  }
  showNext(context, await page(context, outcome))
}

function showNext(context: RouteContext, next: Page): void {
  if (typeof next === 'string') return context.res.redirect(303, next)
  if ('view' in next) return showPage(context, next.view, next.message)
  showPage(context, next)
}

function isRefused(outcome: unknown): outcome is Refused {
  return (
    typeof outcome === 'object' && outcome !== null && 'outcome' in outcome && outcome.outcome === 'refused'
  )
}

/** Responds to a refusal. A page may be outdated: to a browser, what is already gone is what the user wanted. */
export function refuseUnlessGone(
  gone: Refusal['code'],
  addressAfter: (context: RouteContext) => string,
  form?: RefusedForm,
): (context: RouteContext, refusal: Refusal) => Promise<void> | void {
  return (context, refusal) =>
    context.html && refusal.code === gone
      ? context.res.redirect(303, addressAfter(context))
      : sendRefusal(context, refusal, form)
}

/** The handler of a page that only a browser gets. */
export function pageOnly(
  show: (context: RouteContext) => Promise<void> | void,
): (context: RouteContext) => Promise<void> | void {
  return (context) => (context.html ? show(context) : sendProblem(context.res, { code: 'not_found' }))
}
