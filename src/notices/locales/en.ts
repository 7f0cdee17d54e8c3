import type { NoticeCatalogue } from '../catalogue.js'

/** English. */
export const en: NoticeCatalogue = {
  subject: {
    factor_added: '{app}: new sign-in option',
    factor_removed: '{app}: sign-in option removed',
    backup_codes_sent: '{app}: new backup codes',
    backup_code_used: '{app}: backup code used',
    device_trusted: '{app}: new trusted browser',
    factor_disabled: '{app}: sign-in option turned off',
    backup_codes_disabled: '{app}: backup codes turned off',
    repeated_failures: '{app}: someone may know your password',
    account_secured: '{app}: your account was secured',
  },
  what: {
    factor_added: 'You can now confirm your sign-ins to {app} in a new way: {factor}.',
    factor_removed: 'This option to confirm your sign-ins to {app} was removed: {factor}.',
    backup_codes_sent:
      'New backup codes were created for your {app} account. Your earlier codes no longer work.',
    backup_code_used:
      'A backup code was used to sign in to your {app} account. All trusted browsers were removed.',
    device_trusted: 'A new browser is trusted. It can sign in to your {app} account without the second step.',
    factor_disabled:
      'Too many wrong codes were entered for this option to confirm your sign-ins to {app}, so it is turned off until it is set up again: {factor}. Someone may know your password.',
    backup_codes_disabled:
      'Too many wrong backup codes were entered for your {app} account, so your backup codes are turned off until you get new ones. Someone may know your password.',
    repeated_failures:
      'Someone entered the correct password for your {app} account and then several wrong codes. Those codes did not let them in.',
    account_secured:
      'The link in a security message was used to report activity that wasn’t yours. Everyone was signed out of your {app} account, and all trusted browsers were removed.',
  },
  when: 'Time: {value}',
  browser: 'Browser: {value}',
  address: 'IP address: {value}',
  location: 'Location: {value}',
  fine: 'If this was you, you don’t need to do anything.',
  notYou:
    'If this wasn’t you, open this page. There you can sign everyone out of your account and remove all trusted browsers:',
  thenPassword: 'Please also change your password.',
  notYouHere: 'If this wasn’t you, change your {app} password now and contact {app}.',
}
