import type { Texts } from '../texts.js'

export const en: Texts = {
  purposes: {
    'sign-in': 'to sign in',
    'step-up': 'to confirm an action',
    enrolment: 'to set up a sign-in method',
  },
  code: {
    subject: '{code} is your {app} code',
    text: "{code} is your {app} code {purpose}. It expires in {minutes}. Don't share it with anyone.",
    call: "Hello. This is your {app} code {purpose}: {code}. Once more: {code}. Don't share it with anyone. Goodbye.",
  },
  backup: {
    subject: 'Your {app} backup codes',
    text: "Your {app} backup codes:\n\n{codes}\n\nEach works once. Keep them safe and don't share them. All earlier codes have stopped working.",
  },
  notices: {
    locked: {
      subject: 'Wrong codes on your {app} account',
      text: 'Somebody typed many wrong codes for your {app} account, so it is locked for {minutes}. If it was not you, change your password: whoever it was knows it.',
    },
    'app-bound': {
      subject: 'Authenticator app added to {app}',
      text: 'An authenticator app was set up for your {app} account. If it was not you, change your password and contact {app}.',
    },
    'backup-made': {
      subject: 'New {app} backup codes',
      text: 'New backup codes were made for your {app} account; earlier ones have stopped working. If it was not you, change your password and contact {app}.',
    },
    'backup-used': {
      subject: 'A {app} backup code was used',
      text: 'A backup code of your {app} account was just used. If it was not you, change your password and contact {app}.',
    },
  },
}
