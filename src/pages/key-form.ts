import type { KeyMethod } from '../protocol/methods.js'
import { type Html, html, type Renderable } from './html.js'
import { failureTemplates } from './key-failure.js'
import type { PageContext } from './page.js'
import { errorBox } from './page-message.js'

/** The form that adds a key. Its script shows it. */
export function addKeyForm(method: KeyMethod, button: Html, { frame }: PageContext): Html {
  return html`<form hidden class="mfa-form" method="post" action="${frame.base}/keys" data-mfa-key="create" data-mfa-options="${frame.base}/keys/options" data-mfa-field="method"><input type="hidden" name="method" value="${method}"><input type="hidden" name="response">${button}</form>`
}

/** The form that confirms with a key. Its script shows it. */
export function useKeyForm(factorId: string, content: Renderable, { frame }: PageContext): Html {
  return html`<form hidden class="mfa-form" method="post" action="${frame.base}/verify" data-mfa-key="use" data-mfa-options="${frame.base}/challenge" data-mfa-field="factor"><input type="hidden" name="factor" value="${factorId}"><input type="hidden" name="response">${content}</form>`
}

/** What the page says unless its script runs and removes it, and what the script says about failures. */
export function keyFailures(context: PageContext): Html {
  return html`<p class="mfa-needs-script">${context.words.keys.needsScript}</p>${failureTemplates(errorBox, context)}`
}
