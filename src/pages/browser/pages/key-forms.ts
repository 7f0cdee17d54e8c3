/*
 * The script of the pages for security keys and passkeys. A button of a form `data-mfa-key` requests options, runs the ceremony and
 * submits the form with the response. The server renders the outcome; what the browser refuses is shown from the page's templates.
 * Where the browser can create a passkey without a prompt, the page that offers one first has it try so, and says nothing if it fails.
 */
import { canCreateWithoutPrompt, createKey, missingSupport, useKey } from '../ceremony.js'
import { type KeyFailed, type KeyProblem, postJson } from '../request.js'
import { signalAcceptedKeys, signalUnknownKey, signalUserName } from '../signals.js'

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
    if (await leadsOn) return
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
  const { mfaKey, mfaOptions = '' } = form.dataset
  const fields = new FormData(form)
  // That of an attempt before, which may be long.
  fields.delete('response')
  const prepared = await postJson({ base: '' }, mfaOptions, Object.fromEntries(fields))
  if (!prepared.ok) return prepared
  const ceremony = mfaKey === 'create' ? createKey : useKey
  const done = await ceremony(prepared.body.publicKey)
  if (!done.ok) return done
  const field = form.elements.namedItem('response')
  if (field instanceof HTMLInputElement) field.value = JSON.stringify(done.response)
  return { ok: true }
}

// The session keeps one registration at a time, so a click waits for a request of the attempt without a prompt, which may lead on.
let leadsOn = Promise.resolve(false)

/** Has the browser create the passkey of a form without a prompt, and then leads on. The form stays as it is until that has succeeded. */
async function tryWithoutPrompt(form: HTMLFormElement): Promise<void> {
  const { mfaCreated, mfaOptions = '' } = form.dataset
  if (mfaCreated === undefined || !(await canCreateWithoutPrompt())) return
  if (form.ariaBusy === 'true') return
  const asked = postJson({ base: '' }, mfaOptions, { method: 'passkey', mediation: 'conditional' })
  leadsOn = asked.then(() => false)
  const prepared = await asked
  if (!prepared.ok || form.ariaBusy === 'true') return
  const { publicKey } = prepared.body
  const created = await createKey(publicKey, true)
  if (!created.ok) return
  const { response } = created
  const sent = postJson({ base: '' }, form.action, { method: 'passkey', response })
  leadsOn = sent.then(({ ok }) => ok)
  const added = await sent
  if (added.ok) return location.replace(mfaCreated)
  // The password manager would offer a passkey that the app does not know. The app knows one that is registered.
  const { code, fault } = added.problem ?? {}
  const { rp } = publicKey as { readonly rp?: { readonly id?: string } }
  if (code === 'invalid_key' && fault !== 'registered' && rp?.id !== undefined) {
    await signalUnknownKey({ relyingPartyId: rp.id, id: response.id })
  }
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
  if (wait !== null && retryAfterSeconds !== undefined) wait.textContent = formatWait(retryAfterSeconds)
  document.querySelector('#mfa-message > div')?.replaceChildren(words)
}

/** "in 4 minutes", rounded up, in the units of the pages. */
function formatWait(seconds: number): string {
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
if (!unsupported) {
  forms.forEach(prepareForm)
  forms.forEach(tryWithoutPrompt)
} else if (skip !== undefined) location.replace(skip)
else if (forms.length > 0) showFailure('not_supported')
document.querySelectorAll<HTMLElement>('[data-mfa-user-handle]').forEach(signal)
