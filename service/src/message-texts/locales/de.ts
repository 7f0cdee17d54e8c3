import type { Texts } from '../texts.js'

export const de: Texts = {
  purposes: {
    'sign-in': 'zum Anmelden',
    'step-up': 'zum Bestätigen einer Aktion',
    enrolment: 'zum Einrichten eines Anmeldeverfahrens',
  },
  code: {
    subject: '{code} ist Ihr Code für {app}',
    text: '{code} ist Ihr {app}-Code {purpose}. Er gilt {minutes}. Geben Sie ihn nicht weiter.',
    call: 'Guten Tag. Ihr {app}-Code {purpose} lautet: {code}. Noch einmal: {code}. Geben Sie ihn nicht weiter. Auf Wiederhören.',
  },
  backup: {
    subject: 'Ihre Ersatzcodes für {app}',
    text: 'Ihre Ersatzcodes für {app}:\n\n{codes}\n\nJeder gilt einmal. Bewahren Sie sie sicher auf und geben Sie sie nicht weiter. Alle früheren sind ungültig.',
  },
  notices: {
    locked: {
      subject: 'Falsche Codes für Ihr Konto bei {app}',
      text: 'Für Ihr Konto bei {app} wurden viele falsche Codes eingegeben; es ist für {minutes} gesperrt. Waren Sie es nicht, ändern Sie Ihr Passwort: jemand kennt es.',
    },
    'app-bound': {
      subject: 'Authenticator-App für {app} eingerichtet',
      text: 'Für Ihr Konto bei {app} wurde eine Authenticator-App eingerichtet. Waren Sie es nicht, ändern Sie Ihr Passwort und wenden Sie sich an {app}.',
    },
    'backup-made': {
      subject: 'Neue Ersatzcodes für {app}',
      text: 'Für Ihr Konto bei {app} wurden neue Ersatzcodes erstellt; frühere sind ungültig. Waren Sie es nicht, ändern Sie Ihr Passwort und wenden Sie sich an {app}.',
    },
    'backup-used': {
      subject: 'Ein Ersatzcode für {app} wurde benutzt',
      text: 'Ein Ersatzcode Ihres Kontos bei {app} wurde soeben benutzt. Waren Sie es nicht, ändern Sie Ihr Passwort und wenden Sie sich an {app}.',
    },
  },
}
