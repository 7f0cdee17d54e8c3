import {
  SETTING_GROUPS as GROUPS,
  type SettingDescription,
  wholeHint,
} from '../../accounts/applications/settings.js'
import { type Html, html } from '../../html.js'
import type { Setting } from '../../operator/applications.js'
import { parseSettings } from '../../operator/list-applications.js'
import { describeLockedOut } from '../../operator/locked-out-users.js'
import { isAtLeast } from '../../operator/rights.js'
import { attempt, attemptToFind } from '../form.js'
import type { Form, Page, PageMessage, PageRequest, PageRoute, Reply } from '../page.js'
import { MESSAGE_ID } from '../parts.js'
import { APPLICATIONS_PATH, applicationPage, applicationPath, readText } from './applications.js'

interface SettingField extends SettingDescription {
  readonly label: string
}

interface SettingGroup {
  readonly title: string
  readonly fields: readonly SettingField[]
}

const SETTING_GROUPS: readonly SettingGroup[] = GROUPS.map(({ title, settings }) => ({
  title,
  fields: settings.map((setting) => ({
    ...setting,
    label: spellName(setting.name),
    hint: wholeHint(setting),
  })),
}))

/** `sendsPerDay` as "Sends per day". */
export function spellName(name: string): string {
  const words = name
    .replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .replace(/^sms/, 'SMS')
    .replace(/^whatsapp/, 'WhatsApp')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

const PATH = `${APPLICATIONS_PATH}/:application`

/** The path of a setting of an application, whose group is open. */
export function settingPath(application: string, setting: string): string {
  return `${applicationPath(application)}?setting=${setting}#${setting}`
}

/** The settings of an application. */
export const SETTINGS_ROUTES: readonly PageRoute[] = [
  { method: 'get', path: PATH, least: 'viewer', handle: (request) => settingsPage(request) },
  { method: 'post', path: PATH, least: 'admin', stepUp: true, handle: save },
]

type LockedOut = Awaited<ReturnType<PageRequest['operator']['usersLockedOutBy']>>

const FIELDS = SETTING_GROUPS.flatMap(({ fields }) => fields)

/** Saves the fields that differ from what the page showed, and leaves all others alone. */
async function save(request: PageRequest): Promise<Reply> {
  const { form, operator, application } = request
  const changed = FIELDS.filter((field) => readEntered(form, field) !== form.exact(`was.${field.name}`))
  if (changed.length === 0) return settingsPage(request, { tone: 'success', text: 'Nothing was changed.' })
  const isUnset = (field: SettingField) => readEntered(form, field) === DEFAULT
  const unset = changed.filter(isUnset).map(({ name }) => name)
  const written = changed
    .filter((field) => !isUnset(field))
    .map((field) => `${field.name}=${toWrite(form, field)}`)
  const seen = new Map(changed.map(({ name }) => [name, form.exact(`seen.${name}`)]))
  const lockOut = form.exact('lockOut') === 'on'
  // A change that is refused anyway locks nobody out.
  const { found: lockedOut } = await attemptToFind(
    async () =>
      lockOut ? [] : operator.usersLockedOutBy(application, { set: parseSettings(written), unset }),
    [],
  )
  if (lockedOut.length > 0) return settingsPage(request, confirmLockOut(lockedOut), form, { locksOut: true })
  const message = await attempt(
    () => operator.changeSettings(application, { set: parseSettings(written), unset, seen, lockOut }),
    `Saved: ${changed.map(({ label }) => label.toLowerCase()).join(', ')}. It takes effect within a second.`,
  )
  if (message.tone === 'success') return settingsPage(request, message)
  // Each sentence about a setting begins with its name.
  const faults = message.text.split('\n').map((sentence) => /^\w+/.exec(sentence)?.[0])
  const wrong = changed.map(({ name }) => name).filter((name) => faults.includes(name))
  return settingsPage(request, message, form, { wrong })
}

function confirmLockOut(lockedOut: LockedOut): PageMessage {
  return {
    tone: 'error',
    text: `This would lock users out: ${describeLockedOut(lockedOut)}, as far as the service knows. Their logins would stay pending. Nothing was saved yet; confirm it below if you mean it.`,
  }
}

/** Stands for a setting that is not set. */
const DEFAULT = ''
/** A list without items, which is not the default. */
const NOTHING = 'none'

/** The values entered, as an operator writes it; `DEFAULT` for the default. */
function readEntered(form: Form, { name, choices, isList }: SettingField): string {
  if (!choices || !isList) return form.text(name).replaceAll('\r\n', '\n')
  const chosen = choices.filter((choice) => form.all(name).includes(choice)).join(',')
  const isDefault = form.exact(`default.${name}`) === 'on'
  // Editing the list is enough; "Default" need not be unticked, too.
  const isEdited = form.exact(`was.${name}`) === DEFAULT && chosen !== form.exact(`seen.${name}`)
  return isDefault && !isEdited ? DEFAULT : chosen || NOTHING
}

function toWrite(form: Form, field: SettingField): string {
  const text = readEntered(form, field)
  return field.isList && text === NOTHING ? '' : text
}

async function settingsPage(
  request: PageRequest,
  message?: PageMessage,
  form?: Form,
  { wrong = [], locksOut = false }: { readonly wrong?: readonly string[]; readonly locksOut?: boolean } = {},
): Promise<Page> {
  const { application } = request
  const settings = await request.operator.showSettings(application)
  const mayChange = isAtLeast(request.account.role, 'admin')
  const main = html`${application === 'default' && html`<p class="note">The environment variables of the service decide everything that is not set here.</p>`}
<form method="post" class="form form-wide">
${SETTING_GROUPS.map((group) => groupOf(group, settings, { mayChange, form, wrong, linked: readText(request.request.query.setting) }))}
${locksOut && html`<div class="checks"><label><input type="checkbox" name="lockOut" required> Lock these users out</label></div>`}
${mayChange ? html`<div class="form-save"><button class="mfa-primary">Save</button></div>` : html`<p class="note">Only administrators can change settings.</p>`}
</form>`
  return applicationPage(application, '', main, { message })
}

interface FieldState {
  readonly mayChange: boolean
  /** The values entered, if they were not saved. */
  readonly form: Form | undefined
  /** The settings that were entered wrongly. The first one gets the focus. */
  readonly wrong: readonly string[]
  /** The setting that a link led to. */
  readonly linked: string
}

/** A group, which is closed unless it has the setting of a link, or an entry that was not saved. */
function groupOf({ title, fields }: SettingGroup, settings: readonly Setting[], state: FieldState): Html {
  const { form, linked } = state
  const isEdited =
    form && fields.some((field) => readEntered(form, field) !== form.exact(`was.${field.name}`))
  const isOpen = isEdited || fields.some(({ name }) => name === linked)
  const shown = fields.map((field) => ({ field, setting: settings.find(({ name }) => name === field.name) }))
  const changed = shown.filter(({ setting }) => setting && !setting.isUsual).length
  const count = changed === 0 ? 'as the default' : `${changed} of ${fields.length} differ from the default`
  return html`<details class="group"${isOpen && html` open`}><summary><h2>${title}</h2> <span class="badge${changed > 0 && ' badge-on'}">${count}</span></summary>
<div class="grid">${shown.map(({ field, setting }) => renderField(field, setting, state))}</div></details>`
}

function renderField(
  field: SettingField,
  setting: Setting | undefined,
  { mayChange, form, wrong }: FieldState,
) {
  if (!setting) return html``
  const { name, hint } = field
  const { value, from } = setting
  const kept = from === 'default' ? DEFAULT : field.isList ? value || NOTHING : value
  const typed = form && readEntered(form, field)
  // A setting that was not touched may have been changed by another operator.
  const shown = typed !== undefined && typed !== form?.exact(`was.${name}`) ? typed : kept
  return html`<div class="field">
<input type="hidden" name="was.${name}" value="${kept}"><input type="hidden" name="seen.${name}" value="${value}">
${control(field, { shown, value, mayChange, isWrong: wrong.includes(name), isFirst: wrong[0] === name })}
<span class="mfa-hint" id="${name}-hint">${hint}${from === 'set' && html` <span class="badge">set</span>`}</span></div>`
}

interface Shown {
  /** The contents of the field: the setting or the typed value. */
  readonly shown: string
  /** The value that applies. */
  readonly value: string
  readonly mayChange: boolean
  /** Whether it was entered wrongly. */
  readonly isWrong: boolean
  /** Whether it is the first such one. */
  readonly isFirst: boolean
}

function control(
  { name, label, choices, isList, isLong }: SettingField,
  { shown, value, mayChange, isWrong, isFirst }: Shown,
): Html {
  const off = !mayChange && html` disabled`
  const hint = html` aria-describedby="${isWrong && `${MESSAGE_ID} `}${name}-hint"${isWrong && html` aria-invalid="true"`}${isFirst && html` autofocus`}`
  if (choices && isList) {
    const checked = (shown === DEFAULT ? value : shown).split(',')
    return html`<fieldset id="${name}"${hint}><legend>${label}</legend><div class="checks">
<label><input type="checkbox" name="default.${name}"${shown === DEFAULT && html` checked`}${off}> Default</label>
${choices.map((choice) => html`<label><input type="checkbox" name="${name}" value="${choice}"${checked.includes(choice) && html` checked`}${off}> ${choice}</label>`)}
</div></fieldset>`
  }
  const labelled = html`<label for="${name}">${label}</label>`
  if (choices) {
    return html`${labelled}<select id="${name}" name="${name}"${hint}${off}><option value="">Default</option>
${choices.map((choice) => html`<option${choice === shown && html` selected`}>${choice}</option>`)}</select>`
  }
  if (isLong)
    return html`${labelled}<textarea id="${name}" name="${name}" rows="3" spellcheck="false"${hint}${off}>${shown}</textarea>`
  return html`${labelled}<input id="${name}" name="${name}" value="${shown}" placeholder="${value || 'none'}" autocomplete="off"${hint}${off}>`
}
