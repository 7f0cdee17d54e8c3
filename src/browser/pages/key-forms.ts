/*
 * The script of the pages for security keys and passkeys. A button of a form `data-mfa-key` requests options, runs the ceremony and
 * submits the form with the response. The server renders the outcome; what the browser refuses is shown from the page's templates.
 */
import { createKey, missingSupport, useKey } from '../ceremony.js'
import { type KeyFailed, type KeyProblem, postJson } from '../request.js'
import { signalAcceptedKeys, signalUserName } from '../signals.js'

/** The page that these name says what is missing. */
const CONTINUES_THERE: ReadonlySet<string> = new Set([
  'mfa_required',
  'step_up_required',
  'enrollment_required',
  'bypass_code_required',
])

/** Shows a form, and makes its button start the ceremony. */
function prepareForm(form: HTMLFormElement): void {
  const button = form.querySelector('button')
  if (button === null) return
  form.hidden = false
  if ('mfaFirst' in button.dataset) button.focus()
  button.addEventListener('click', async () => {
    if (form.ariaBusy === 'true') return
    form.ariaBusy = 'true'
    showFailure(undefined)
    const outcome = await respond(form)
    form.ariaBusy = null
    if (outcome.ok) return form.requestSubmit()
    const { problem } = outcome
    if (problem?.next !== undefined && CONTINUES_THERE.has(problem.code)) return location.assign(problem.next)
    showFailure(outcome.reason, problem)
  })
}

/** Runs the ceremony of a form and puts the response into its field. */
async function respond(form: HTMLFormElement): Promise<{ ok: true } | KeyFailed> {
  const { mfaKey, mfaOptions = '', mfaField = '' } = form.dataset
  const value = new FormData(form).get(mfaField)
  const prepared = await postJson({ base: '' }, mfaOptions, { [mfaField]: value })
  if (!prepared.ok) return prepared
  const ceremony = mfaKey === 'create' ? createKey : useKey
  const done = await ceremony(prepared.body.publicKey)
  if (!done.ok) return done
  const field = form.elements.namedItem('response')
  if (field instanceof HTMLInputElement) field.value = JSON.stringify(done.response)
  return { ok: true }
}

/** Shows the text of a failure, or of the app's refusal, in place of the message before. */
function showFailure(reason: string | undefined, problem?: KeyProblem): void {
  document.getElementById('mfa-message')?.remove()
  if (reason === undefined) return
  const template =
    document.querySelector(`template[data-mfa-failure="${reason}"]`) ??
    document.querySelector('template[data-mfa-failure="failed"]')
  if (template instanceof HTMLTemplateElement)
    document.querySelector('h1')?.after(template.content.cloneNode(true))
  if (reason === 'refused' && problem !== undefined) showProblem(problem)
  document.getElementById('mfa-message')?.scrollIntoView({ block: 'nearest' })
}

/** Puts the words for a refusal of the app into the box of the message. A refusal of something else, such as a proxy, has none. */
function showProblem({ code, retryAfterSeconds }: KeyProblem): void {
  const template = document.querySelector(`template[data-mfa-problem="${CSS.escape(code)}"]`)
  if (!(template instanceof HTMLTemplateElement)) return
  const words = template.content.cloneNode(true) as DocumentFragment
  const wait = words.querySelector('[data-mfa-in]')
  if (wait !== null && retryAfterSeconds !== undefined) wait.textContent = inTime(retryAfterSeconds)
  document.querySelector('#mfa-message > div')?.replaceChildren(words)
}

/** "in 4 minutes", rounded up, in the units of the pages. */
function inTime(seconds: number): string {
  const { lang } = document.documentElement
  const minutes = Math.ceil(seconds / 60)
  const hours = Math.ceil(minutes / 60)
  const format = new Intl.RelativeTimeFormat(lang)
  if (seconds <= 90) return format.format(Math.max(1, Math.ceil(seconds)), 'second')
  if (minutes <= 90) return format.format(minutes, 'minute')
  return hours <= 36 ? format.format(hours, 'hour') : format.format(Math.ceil(hours / 24), 'day')
}

/** Tells the password manager which keys the account has, and its name. */
async function signal(element: HTMLElement): Promise<void> {
  const { mfaRelyingParty = '', mfaUserHandle = '', mfaUserName = '', mfaKeys = '' } = element.dataset
  const owner = { relyingPartyId: mfaRelyingParty, userHandle: mfaUserHandle }
  await signalAcceptedKeys({ ...owner, ids: mfaKeys === '' ? [] : mfaKeys.split(' ') })
  await signalUserName({ ...owner, name: mfaUserName })
}

document.querySelector('.mfa-needs-script')?.remove()
const forms = document.querySelectorAll<HTMLFormElement>('form[data-mfa-key]')
const unsupported = missingSupport() !== undefined
// A page that only offers a key has nothing to say in a browser that cannot add one.
const skip = document.querySelector<HTMLElement>('[data-mfa-unsupported]')?.dataset.mfaUnsupported
if (!unsupported) forms.forEach(prepareForm)
else if (skip !== undefined) location.replace(skip)
else if (forms.length > 0) showFailure('not_supported')
document.querySelectorAll<HTMLElement>('[data-mfa-user-handle]').forEach(signal)
