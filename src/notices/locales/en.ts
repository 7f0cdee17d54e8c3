import type { NoticeCatalogue } from '../catalogue.js'

/** English. */
export const en: NoticeCatalogue = {
  subject: {
    factor_added: '{app}: a way to confirm was added',
    factor_removed: '{app}: a way to confirm was removed',
    backup_codes_sent: '{app}: new backup codes',
    backup_code_used: '{app}: a backup code was used',
    device_trusted: '{app}: a browser is trusted now',
    repeated_failures: '{app}: somebody may know your password',
    account_secured: '{app}: your account was secured',
  },
  what: {
    factor_added: 'A new way to confirm your sign-ins to {app} was added: {factor}.',
    factor_removed: 'A way to confirm your sign-ins to {app} was removed: {factor}.',
    backup_codes_sent: 'New backup codes for your {app} account were made. Older ones no longer work.',
    backup_code_used:
      'A backup code was used to confirm a sign-in to your {app} account. No browser is trusted any more.',
    device_trusted:
      'A browser is trusted from now on: it signs in to your {app} account without the second step.',
    repeated_failures:
      'Somebody gave the right password for your {app} account, and then several wrong codes. They did not get in with those.',
    account_secured:
      'Somebody told us by the link in a message that they did not do what it was about. Everybody was signed out of your {app} account, and no browser is trusted any more.',
  },
  when: 'When: {value}',
  browser: 'Browser: {value}',
  address: 'Network address: {value}',
  location: 'Place: {value}',
  fine: 'If this was you, there is nothing to do.',
  notYou:
    'If it wasn’t you, open this page. It signs everybody out of your account and trusts no browser any more:',
  thenPassword: 'Then change your password.',
  notYouHere: 'If it wasn’t you, change your password in {app} now, and tell the people who run it.',
}
