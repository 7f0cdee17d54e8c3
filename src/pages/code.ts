import type { CodeMethod } from '../protocol/methods.js'
import { codeRequest, sendAgain, troubleSection } from './choose.js'
import { codeField } from './code-field.js'
import { countdown, deliveryLine, LEAD_ID } from './delivery-line.js'
import { trustChoice } from './devices.js'
import { type Html, html } from './html.js'
import { approvalField } from './layout.js'
import { type Page, type PageContext, stepUpReason } from './page.js'
import { fill } from './text.js'
import type { ChallengeView, ViewOf } from './view.js'

/** The form to enter a code or, if there is no code to enter, to request one. */
export function codePage(view: ViewOf<'code'>, context: PageContext): Page {
  const challenge = openChallenge(view, context)
  const needsNoDelivery = view.factor === 'backup' || view.factor.method === 'app'
  if (view.exhausted || (challenge === undefined && !needsNoDelivery)) return codeRequest(view, context)
  const { words } = context
  return {
    title: html`${words.code.title[getKind(view)]}`,
    asksForCode: true,
    main: html`${challenge === undefined ? lead(view, context) : deliveryLine(challenge, context)}
${entryForm(view, challenge, context)}
${challenge !== undefined && sendAgain(challenge, context)}
${troubleSection(view, context)}`,
  }
}

function entryForm(view: ViewOf<'code'>, challenge: ChallengeView | undefined, context: PageContext): Html {
  const { frame, words } = context
  const isBackup = view.factor === 'backup'
  const field = codeField(
    {
      label: isBackup ? words.code.labelBackup : words.code.label,
      kind: isBackup ? 'backup' : 'digits',
      // With the checkbox below the field, a complete code is not the end of the form.
      digits: isBackup || view.trust ? 0 : (view.digits ?? 6),
      fromText: getKind(view) === 'sms' || getKind(view) === 'dual',
      isFirst: true,
      describedBy: LEAD_ID,
    },
    context,
  )
  return html`<form class="mfa-form" method="post" action="${frame.base}/verify"><input type="hidden" name="factor" value="${
    view.factor === 'backup' ? 'backup' : view.factor.id
  }">${approvalField(context)}
${field}
${challenge !== undefined && expiryLine(challenge, context)}
${trustChoice(view, context)}
<button class="mfa-primary">${words.code.submit}</button></form>`
}

function expiryLine(challenge: ChallengeView, context: PageContext): Html {
  const { code } = context.words
  const seconds = (challenge.expiresAt - context.frame.now) / 1000
  return countdown({ seconds, phrase: code.expires, ready: code.expired, isLate: true }, context)
}

/** Says where to find a code that is not sent. */
function lead({ factor, isUsed }: ViewOf<'code'>, context: PageContext): Html {
  const { frame, words } = context
  const { from } = words.code
  const ofApp = fill(isUsed === true ? from.appNext : from.app, { app: frame.appName })
  return html`${stepUpReason(context)}<p class="mfa-lead" id="${LEAD_ID}">${factor === 'backup' ? from.backup : ofApp}</p>`
}

/** The challenge of a delivered code, if it can still be answered. */
function openChallenge(view: ViewOf<'code'>, { frame }: PageContext): ChallengeView | undefined {
  const { challenge, factor } = view
  if (challenge === undefined || factor === 'backup' || factor.method === 'app') return undefined
  return challenge.factor.id === factor.id && challenge.expiresAt > frame.now ? challenge : undefined
}

function getKind({ factor }: ViewOf<'code'>): CodeMethod | 'backup' {
  return factor === 'backup' ? 'backup' : factor.method
}
