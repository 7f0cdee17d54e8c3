import { SETTING_GROUPS as GROUPS, type SettingDescription, wholeHint } from '../../applications/settings.js'

/** How a setting is shown and entered. */
export interface SettingField extends SettingDescription {
  readonly label: string
}

/** Every setting of an application, in groups. */
export const SETTING_GROUPS: readonly { readonly title: string; readonly fields: readonly SettingField[] }[] =
  GROUPS.map(({ title, settings }) => ({
    title,
    fields: settings.map((one) => ({ ...one, label: inWords(one.name), hint: wholeHint(one) })),
  }))

/** `sendsPerDay` as "Sends per day". */
function inWords(name: string): string {
  const words = name
    .replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .replace(/^sms/, 'SMS')
    .replace(/^whatsapp/, 'WhatsApp')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
