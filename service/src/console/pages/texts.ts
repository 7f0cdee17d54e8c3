import { html } from '../../http/html-page.js'
import { SUPPORTED_LANGUAGES } from '../../message-texts/catalogue.js'
import type { TextPreview } from '../../operator/preview-texts.js'
import type { Page, PageRequest, PageRoute } from '../page.js'
import { APPLICATIONS_PATH, applicationNav, applicationOf, textOf } from './applications.js'

/** The texts of an application's messages, as they are sent. */
export const TEXT_ROUTES: readonly PageRoute[] = [
  { method: 'get', path: `${APPLICATIONS_PATH}/:application/texts`, least: 'viewer', handle: textsPage },
]

const NAMES = { email: 'Email', sms: 'SMS', whatsapp: 'WhatsApp', call: 'Call' } as const

async function textsPage(request: PageRequest): Promise<Page> {
  const application = await applicationOf(request)
  const wanted = textOf(request.request.query.language)
  const language = SUPPORTED_LANGUAGES.find((tag) => tag === wanted) ?? 'en'
  const previews = await request.operator.previewTexts(application, language)
  return {
    title: application,
    section: 'applications',
    main: html`${applicationNav(request, application, '/texts')}
<form class="form-row" method="get">
<div class="field"><label for="language">Language</label><select id="language" name="language">
${SUPPORTED_LANGUAGES.map((tag) => html`<option${tag === language && html` selected`}>${tag}</option>`)}</select></div>
<button class="small-button">Show</button></form>
<p class="note">The message with a code to sign in, exactly as it is sent. WhatsApp may send an approved template instead.</p>
${previews.map((preview) => messageOf(preview, language))}`,
  }
}

function messageOf({ channel, subject, text, size }: TextPreview, language: string) {
  const direction = language === 'ar' ? 'rtl' : 'ltr'
  return html`<h2>${NAMES[channel]}</h2>
${subject && html`<p><strong>Subject:</strong> <bdi lang="${language}">${subject}</bdi></p>`}
<pre class="once" lang="${language}" dir="${direction}">${text.trim()}</pre>
${size && html`<p class="note">${size.units} of ${size.limit} characters, ${size.segments === 1 ? '1 segment' : `${size.segments} segments`} (${size.alphabet}).</p>`}`
}
