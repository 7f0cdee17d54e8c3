import type { MessageTexts } from '../message-texts.js'

export const de: MessageTexts = {
  purposes: {
    'sign-in': 'zum Anmelden',
    'step-up': 'zum Bestätigen einer Aktion',
    enrollment: 'zum Einrichten einer Anmeldemethode',
  },
  code: {
    subject: '{code} ist Ihr Code für {app}',
    text: '{code} ist Ihr {app}-Code {purpose}. Er läuft in {minutes} ab. Geben Sie ihn nicht weiter.',
    call: 'Guten Tag. Ihr {app}-Code {purpose} lautet: {code}. Ich wiederhole: {code}. Geben Sie ihn nicht weiter. Auf Wiederhören.',
  },
  backup: {
    subject: 'Ihre Backup-Codes für {app}',
    text: 'Ihre Backup-Codes für {app}:\n\n{codes}\n\nJeder Code kann nur einmal verwendet werden. Bewahren Sie sie sicher auf und geben Sie sie nicht weiter. Frühere Codes sind ungültig.',
  },
  notices: {
    locked: {
      subject: 'Falsche Codes für Ihr Konto bei {app}',
      text: 'Für Ihr Konto bei {app} wurden zu viele falsche Codes eingegeben. Es ist für {minutes} gesperrt. Wenn Sie das nicht waren, ändern Sie Ihr Passwort: Möglicherweise kennt es jemand anderes.',
    },
    'app-bound': {
      subject: 'Authenticator-App für {app} eingerichtet',
      text: 'Für Ihr Konto bei {app} wurde eine Authenticator-App eingerichtet. Wenn Sie das nicht waren, ändern Sie Ihr Passwort und wenden Sie sich an {app}.',
    },
    'backup-made': {
      subject: 'Neue Backup-Codes für {app}',
      text: 'Für Ihr Konto bei {app} wurden neue Backup-Codes erstellt. Frühere Codes sind ungültig. Wenn Sie das nicht waren, ändern Sie Ihr Passwort und wenden Sie sich an {app}.',
    },
    'backup-used': {
      subject: 'Ein Backup-Code für {app} wurde verwendet',
      text: 'Für Ihr Konto bei {app} wurde soeben ein Backup-Code verwendet. Wenn Sie das nicht waren, ändern Sie Ihr Passwort und wenden Sie sich an {app}.',
    },
  },
}
