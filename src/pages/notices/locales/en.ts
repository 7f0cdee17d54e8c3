import type { ContactNoticeType, NoticeType } from '../notice.js'

/** The English texts, from which the type of a `NoticeCatalogue` is derived. */
export const en = {
  /** Subject of the message, by the type of the notice. */
  subject: {
    factor_added: '{app}: new sign-in option',
    factor_removed: '{app}: sign-in option removed',
    backup_codes_sent: '{app}: new backup codes',
    backup_codes_shown: '{app}: new backup codes',
    backup_codes_removed: '{app}: backup codes removed',
    backup_code_used: '{app}: backup code used',
    device_trusted: '{app}: new trusted browser',
    new_browser: '{app}: sign-in from a new browser',
    factor_disabled: '{app}: sign-in option turned off',
    backup_codes_disabled: '{app}: backup codes turned off',
    repeated_failures: '{app}: someone may know your password',
    account_secured: '{app}: your account was secured',
    recovery_requested: '{app}: account recovery requested',
    recovery_reminder: '{app}: account recovery will complete soon',
    recovery_canceled: '{app}: account recovery canceled',
    recovery_completed: '{app}: account recovery completed',
    account_reset: '{app}: your account was reset',
    stronger_factor_required: '{app}: a new sign-in option can be added to your account',
  } satisfies Readonly<Record<NoticeType, string>>,
  /** The event, in one or two sentences. */
  what: {
    factor_added: 'You can now confirm your sign-ins to {app} in a new way: {factor}.',
    factor_removed: 'This option to confirm your sign-ins to {app} was removed: {factor}.',
    backup_codes_sent:
      'New backup codes were created for your {app} account. Your earlier codes no longer work.',
    backup_codes_shown:
      'New backup codes were created for your {app} account and shown on a page. Your earlier codes no longer work.',
    backup_codes_removed: 'The backup codes of your {app} account were removed. They no longer work.',
    backup_code_used:
      'A backup code was used to sign in to your {app} account. All trusted browsers were removed.',
    device_trusted: 'A new browser is trusted. It can sign in to your {app} account without the second step.',
    new_browser: 'Someone signed in to your {app} account in a browser that was not used for it before.',
    factor_disabled:
      'Too many wrong codes were entered for this option to confirm your sign-ins to {app}, so it is turned off until it is set up again: {factor}. Someone may know your password.',
    backup_codes_disabled:
      'Too many wrong backup codes were entered for your {app} account, so your backup codes are turned off until you get new ones. Someone may know your password.',
    repeated_failures:
      'Someone entered the correct password for your {app} account and then several wrong codes. Those codes did not let them in.',
    account_secured:
      'The link in a security message was used to report activity that wasn’t yours. Everyone was signed out of your {app} account, and all trusted browsers were removed.',
    recovery_requested:
      'Someone who signed in to your {app} account says they can no longer use its safest sign-in option, and wants to set up a new one. From {ready}, they can replace it.',
    recovery_reminder:
      'The recovery of your {app} account is still waiting. From {ready}, the person who requested it can replace your safest sign-in option.',
    recovery_canceled: 'The recovery of your {app} account was canceled. Your sign-in options are unchanged.',
    recovery_completed:
      'The recovery of your {app} account was completed. Your old sign-in option no longer works, everyone was signed out, and all trusted browsers were removed.',
    account_reset:
      'Our support team reset the sign-in options of your {app} account. Everyone was signed out, and all trusted browsers were removed. To sign in, enter the code that our support team gave you, then set up a new sign-in option.',
    stronger_factor_required:
      'Someone confirmed a sign-in to your {app} account in this way: {factor}. {app} requires a stronger sign-in option, and that person can now set one up.',
  } satisfies Readonly<Record<NoticeType, string>>,
  when: 'Time: {value}',
  browser: 'Browser: {value}',
  address: 'IP address: {value}',
  location: 'Location: {value}',
  fine: 'If this was you, you don’t need to do anything.',
  /** The link follows on a line of its own, also after `cancel`. */
  notYou:
    'If this wasn’t you, open this page. There you can sign everyone out of your account and remove all trusted browsers:',
  thenPassword: 'Please also change your password.',
  /** Where there is no link. */
  notYouHere: 'If this wasn’t you, change your {app} password now and contact {app}.',
  cancel: 'If you didn’t request this, cancel it here:',
  /** The notices to every contact as a text message. The link follows pending ones. */
  short: {
    recovery_requested:
      '{app}: someone requested recovery of your account. It can be completed from {ready}. Not you? Cancel:',
    recovery_reminder:
      '{app}: recovery of your account is still waiting and can be completed from {ready}. Not you? Cancel:',
    recovery_canceled: '{app}: the recovery of your account was canceled.',
    recovery_completed:
      '{app}: the recovery of your account was completed. If this wasn’t you, contact {app} now.',
    account_reset:
      '{app}: our support team reset the sign-in options of your account. If you didn’t ask for this, contact {app} now.',
    stronger_factor_required:
      '{app}: someone confirmed a sign-in to your account and can now set up a stronger sign-in option. If this wasn’t you, contact {app} now.',
  } satisfies Readonly<Record<ContactNoticeType, string>>,
}
