import type { NoticeCatalogue } from '../catalogue.js'

/** German. */
export const de: NoticeCatalogue = {
  subject: {
    factor_added: '{app}: neuer Weg zum Bestätigen',
    factor_removed: '{app}: ein Weg zum Bestätigen wurde entfernt',
    backup_codes_sent: '{app}: neue Backup-Codes',
    backup_code_used: '{app}: ein Backup-Code wurde verwendet',
    device_trusted: '{app}: einem Browser wird jetzt vertraut',
    repeated_failures: '{app}: jemand kennt vielleicht Ihr Passwort',
    account_secured: '{app}: Ihr Konto wurde gesichert',
  },
  what: {
    factor_added: 'Für Anmeldungen bei {app} gibt es einen neuen Weg zum Bestätigen: {factor}.',
    factor_removed: 'Für Anmeldungen bei {app} wurde ein Weg zum Bestätigen entfernt: {factor}.',
    backup_codes_sent: 'Für Ihr Konto bei {app} wurden neue Backup-Codes erstellt. Ältere gelten nicht mehr.',
    backup_code_used:
      'Eine Anmeldung bei {app} wurde mit einem Ihrer Backup-Codes bestätigt. Keinem Browser wird mehr vertraut.',
    device_trusted:
      'Einem Browser wird von jetzt an vertraut: Er meldet sich ohne den zweiten Schritt bei Ihrem Konto bei {app} an.',
    repeated_failures:
      'Jemand hat für Ihr Konto bei {app} das richtige Passwort und danach mehrere falsche Codes eingegeben. Damit kam niemand hinein.',
    account_secured:
      'Über den Link in einer Nachricht wurde uns gesagt, dass Sie das darin Beschriebene nicht waren. Alle wurden von Ihrem Konto bei {app} abgemeldet, und keinem Browser wird mehr vertraut.',
  },
  when: 'Wann: {value}',
  browser: 'Browser: {value}',
  address: 'Netzwerkadresse: {value}',
  location: 'Ort: {value}',
  fine: 'Wenn Sie das waren, müssen Sie nichts tun.',
  notYou:
    'Wenn Sie es nicht waren, öffnen Sie diese Seite. Dort werden alle von Ihrem Konto abgemeldet, und keinem Browser wird mehr vertraut:',
  thenPassword: 'Ändern Sie danach Ihr Passwort.',
  notYouHere:
    'Wenn Sie es nicht waren, ändern Sie jetzt Ihr Passwort bei {app} und sagen Sie den Betreibern Bescheid.',
}
