import type { NoticeCatalogue } from '../catalogue.js'

/** German. */
export const de: NoticeCatalogue = {
  subject: {
    factor_added: '{app}: neue Anmeldemethode',
    factor_removed: '{app}: Anmeldemethode entfernt',
    backup_codes_sent: '{app}: neue Backup-Codes',
    backup_code_used: '{app}: Backup-Code verwendet',
    device_trusted: '{app}: neuer vertrauenswürdiger Browser',
    factor_disabled: '{app}: Anmeldemethode deaktiviert',
    backup_codes_disabled: '{app}: Backup-Codes deaktiviert',
    repeated_failures: '{app}: Jemand kennt möglicherweise Ihr Passwort',
    account_secured: '{app}: Ihr Konto wurde geschützt',
    recovery_requested: '{app}: Kontowiederherstellung angefordert',
    recovery_reminder: '{app}: Kontowiederherstellung steht bevor',
    recovery_cancelled: '{app}: Kontowiederherstellung abgebrochen',
    recovery_completed: '{app}: Kontowiederherstellung abgeschlossen',
    account_reset: '{app}: Ihr Konto wurde zurückgesetzt',
  },
  what: {
    factor_added: 'Sie können Anmeldungen bei {app} jetzt mit einer neuen Methode bestätigen: {factor}.',
    factor_removed: 'Diese Methode zum Bestätigen von Anmeldungen bei {app} wurde entfernt: {factor}.',
    backup_codes_sent:
      'Für Ihr Konto bei {app} wurden neue Backup-Codes erstellt. Frühere Codes gelten nicht mehr.',
    backup_code_used:
      'Mit einem Backup-Code wurde eine Anmeldung bei Ihrem Konto bei {app} bestätigt. Alle vertrauenswürdigen Browser wurden entfernt.',
    device_trusted:
      'Ein neuer Browser ist vertrauenswürdig. In ihm ist die Anmeldung bei Ihrem Konto bei {app} ohne zweiten Schritt möglich.',
    factor_disabled:
      'Für diese Methode, Ihre Anmeldungen bei {app} zu bestätigen, wurden zu viele falsche Codes eingegeben. Sie ist deaktiviert, bis sie neu eingerichtet wird: {factor}. Möglicherweise kennt jemand Ihr Passwort.',
    backup_codes_disabled:
      'Für Ihr Konto bei {app} wurden zu viele falsche Backup-Codes eingegeben. Ihre Backup-Codes sind deaktiviert, bis Sie neue anfordern. Möglicherweise kennt jemand Ihr Passwort.',
    repeated_failures:
      'Jemand hat das richtige Passwort für Ihr Konto bei {app} und danach mehrere falsche Codes eingegeben. Mit diesen Codes war keine Anmeldung möglich.',
    account_secured:
      'Über den Link in einer Sicherheitsnachricht wurde gemeldet, dass eine Aktivität nicht von Ihnen war. Alle wurden von Ihrem Konto bei {app} abgemeldet und alle vertrauenswürdigen Browser entfernt.',
    recovery_requested:
      'Jemand hat sich bei Ihrem Konto bei {app} angemeldet, kann nach eigenen Angaben die sicherste Anmeldemethode nicht mehr verwenden und möchte eine neue einrichten. Ab {ready} kann sie ersetzt werden.',
    recovery_reminder:
      'Die Wiederherstellung Ihres Kontos bei {app} wartet noch. Ab {ready} kann die Person, die sie angefordert hat, Ihre sicherste Anmeldemethode ersetzen.',
    recovery_cancelled:
      'Die Wiederherstellung Ihres Kontos bei {app} wurde abgebrochen. Ihre Anmeldemethoden sind unverändert.',
    recovery_completed:
      'Die Wiederherstellung Ihres Kontos bei {app} wurde abgeschlossen. Ihre alte Anmeldemethode funktioniert nicht mehr, alle wurden abgemeldet und alle vertrauenswürdigen Browser entfernt.',
    account_reset:
      'Unser Support hat die Anmeldemethoden Ihres Kontos bei {app} zurückgesetzt. Alle wurden abgemeldet und alle vertrauenswürdigen Browser entfernt. Geben Sie zum Anmelden den Code ein, den Sie von unserem Support erhalten haben, und richten Sie dann eine neue Anmeldemethode ein.',
  },
  when: 'Zeit: {value}',
  browser: 'Browser: {value}',
  address: 'IP-Adresse: {value}',
  location: 'Ort: {value}',
  fine: 'Wenn Sie das waren, müssen Sie nichts tun.',
  notYou:
    'Wenn Sie das nicht waren, öffnen Sie diese Seite. Dort können Sie alle von Ihrem Konto abmelden und alle vertrauenswürdigen Browser entfernen:',
  thenPassword: 'Bitte ändern Sie auch Ihr Passwort.',
  notYouHere:
    'Wenn Sie das nicht waren, ändern Sie jetzt Ihr Passwort bei {app} und wenden Sie sich an {app}.',
  cancel: 'Wenn Sie das nicht angefordert haben, brechen Sie es hier ab:',
  short: {
    recovery_requested:
      '{app}: Jemand hat die Wiederherstellung Ihres Kontos angefordert. Sie ist ab {ready} möglich. Nicht Sie? Abbrechen:',
    recovery_reminder:
      '{app}: Die Wiederherstellung Ihres Kontos wartet noch und ist ab {ready} möglich. Nicht Sie? Abbrechen:',
    recovery_cancelled: '{app}: Die Wiederherstellung Ihres Kontos wurde abgebrochen.',
    recovery_completed:
      '{app}: Die Wiederherstellung Ihres Kontos wurde abgeschlossen. Wenn Sie das nicht waren, wenden Sie sich sofort an {app}.',
    account_reset:
      '{app}: Unser Support hat die Anmeldemethoden Ihres Kontos zurückgesetzt. Wenn Sie nicht darum gebeten haben, wenden Sie sich sofort an {app}.',
  },
}
