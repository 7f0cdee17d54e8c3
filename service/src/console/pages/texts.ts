import { SUPPORTED_LANGUAGES, textsIn } from '../../messages/texts/catalogue.js'
import type { TextPreview } from '../../operator/preview-texts.js'
import { type Html, html } from '../../telemetry/html.js'
import { ConsoleError } from '../form.js'
import type { Page, PageRequest, PageRoute, Reply } from '../page.js'
import { APPLICATIONS_PATH, applicationNav, applicationOf, applicationPath, textOf } from './applications.js'

const PATH = `${APPLICATIONS_PATH}/:application/texts`

/** The texts of an application's messages, as they are sent. */
export const TEXT_ROUTES: readonly PageRoute[] = [
  { method: 'get', path: PATH, least: 'viewer', handle: textsPage },
  { method: 'get', path: `${PATH}/email`, least: 'viewer', handle: emailDocument },
]

const NAMES = { email: 'Email', sms: 'SMS', whatsapp: 'WhatsApp', call: 'Call' } as const

/** The color schemes of email programs, with the condition that takes the place of theirs. */
const SCHEMES = { light: 'not all', dark: 'all' } as const

function languageIn({ request }: PageRequest): string {
  const wanted = textOf(request.query.language)
  return SUPPORTED_LANGUAGES.find((tag) => tag === wanted) ?? 'en'
}

async function textsPage(request: PageRequest): Promise<Page> {
  const application = await applicationOf(request)
  const language = languageIn(request)
  const previews = await request.operator.previewTexts(application, language)
  return {
    title: application,
    section: 'applications',
    main: html`${applicationNav(application, '/texts')}
<form class="form-row" method="get">
<div class="field"><label for="language">Language</label><select id="language" name="language">
${SUPPORTED_LANGUAGES.map((tag) => html`<option value="${tag}"${tag === language && html` selected`}>${languageName(tag)}</option>`)}</select></div>
<button class="small-button">Show</button></form>
<p class="note">The message with a code to sign in, exactly as it is sent. WhatsApp may send an approved template instead.</p>
${previews.map((preview) => messageOf(preview, application, language))}`,
  }
}

/** The HTML part of the email in one color scheme, for a frame. */
async function emailDocument(request: PageRequest): Promise<Reply> {
  const application = await applicationOf(request)
  const previews = await request.operator.previewTexts(application, languageIn(request))
  const document = previews.find(({ channel }) => channel === 'email')?.html
  if (document === undefined) throw new ConsoleError(404, 'There is no email.')
  const scheme = request.request.query.scheme === 'dark' ? 'dark' : 'light'
  return { framed: document.replaceAll('(prefers-color-scheme:dark)', SCHEMES[scheme]) }
}

function languageName(tag: string): string {
  return `${new Intl.DisplayNames('en', { type: 'language' }).of(tag) ?? tag} (${tag})`
}

function messageOf(
  { channel, subject, text, size, html: document }: TextPreview,
  application: string,
  language: string,
) {
  return html`<h2>${NAMES[channel]}</h2>
${subject && html`<p><strong>Subject:</strong> <bdi lang="${language}">${subject}</bdi></p>`}
${document !== undefined && frames(application, language)}
${document !== undefined && html`<p class="note">The plain part, for programs that show no HTML:</p>`}
${channel === 'call' && html`<p class="note">What the voice says:</p>`}
<pre class="once" lang="${language}" dir="${textsIn(language).dir}">${text.trim()}</pre>
${size && html`<p class="note">${size.units} of ${size.limit} characters, ${size.segments === 1 ? '1 segment' : `${size.segments} segments`} (${size.alphabet}).</p>`}`
}

/** The HTML part of the email in both color schemes. The frames can neither run scripts nor load anything. */
function frames(application: string, language: string): Html {
  return html`<div class="frames">${(['light', 'dark'] as const).map(
    (scheme) =>
      html`<figure><figcaption class="note">In ${scheme} mode</figcaption>
<iframe sandbox title="Email in ${scheme} mode" src="${applicationPath(application, `/texts/email?language=${language}&scheme=${scheme}`)}"></iframe></figure>`,
  )}</div>`
}
