import type { MessageTexts } from '../message-texts.js'

/** The texts of messages in English. */
export const en: MessageTexts = {
  dir: 'ltr',
  purposes: {
    'sign-in': 'to sign in',
    'step-up': 'to confirm an action',
    enrollment: 'to set up a sign-in method',
    approval: 'to confirm exactly this',
  },
  code: {
    subject: '{code} is your {app} code',
    text: "{code} is your {app} code {purpose}. It expires in {minutes}. Don't share it with anyone.",
    short: "{code} is your {app} code {purpose}. Don't share it.",
    shortest: "{code}: {app}. Don't share it.",
    call: "Hello, this is {app}.{details} Your code {purpose} is: {code}. Again:{details} Your code {purpose} is: {code}. Don't share it with anyone. Goodbye.",
  },
  spokenLine: '{line}. End of entry.',
  signIn: {
    warning: 'If you are not signing in right now, someone knows your password: change it.',
    time: 'Time',
    browser: 'Browser',
    place: 'Place',
  },
  backup: {
    subject: 'Your {app} backup codes',
    text: "Your {app} backup codes:\n\n{codes}\n\nYou can use each code once. Keep them safe and don't share them. All earlier codes no longer work.",
  },
  notices: {
    locked: {
      subject: 'Wrong codes entered for your {app} account',
      text: "Too many wrong codes were entered for your {app} account, so it is locked for {minutes}. If this wasn't you, change your password: someone else may know it.",
    },
    'app-bound': {
      subject: 'Authenticator app added to your {app} account',
      text: "An authenticator app was set up for your {app} account. If this wasn't you, change your password and contact {app}.",
    },
    'backup-made': {
      subject: 'New {app} backup codes',
      text: "New backup codes were created for your {app} account; earlier codes no longer work. If this wasn't you, change your password and contact {app}.",
    },
    'backup-used': {
      subject: 'A {app} backup code was used',
      text: "A backup code was just used for your {app} account. If this wasn't you, change your password and contact {app}.",
    },
    'factor-removed': {
      subject: 'A sign-in option of your {app} account was removed',
      text: "An authenticator app or backup codes were removed from your {app} account. If this wasn't you, change your password and contact {app}.",
    },
    'key-added': {
      subject: 'Security key or passkey added to your {app} account',
      text: "A security key or passkey was added to your {app} account. If this wasn't you, change your password and contact {app}.",
    },
    'key-removed': {
      subject: 'Security key or passkey removed from your {app} account',
      text: "A security key or passkey was removed from your {app} account. If this wasn't you, change your password and contact {app}.",
    },
    'key-counter': {
      subject: 'A key of your {app} account may have been copied',
      text: "A security key or passkey of your {app} account may have been copied. Remove it and add a new one. If this wasn't you, change your password and contact {app}.",
    },
    'key-synced': {
      subject: 'A passkey of your {app} account is now synced',
      text: "A passkey or security key of your {app} account is now synced to other devices. If this wasn't you, change your password and contact {app}.",
    },
  },
}
