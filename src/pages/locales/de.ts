import type { Catalogue } from './catalogue.js'

/** German. */
export const de: Catalogue = {
  dir: 'ltr',
  documentTitle: '{page} – {app}',
  documentTitleError: 'Fehler: {page} – {app}',
  later: 'später',
  grace: 'Bitte richten Sie bis zum {date} die Bestätigung in zwei Schritten ein.',
  choose: {
    title: 'Bestätigen Sie Ihre Identität',
    lead: {
      'sign-in': 'Noch ein Schritt, dann sind Sie bei {app} angemeldet. Wählen Sie eine Methode.',
      'step-up': 'Für diese Aktion müssen Sie Ihre Identität erneut bestätigen. Wählen Sie eine Methode.',
      manage: 'Bestätigen Sie Ihre Identität, bevor Sie hier etwas ändern. Wählen Sie eine Methode.',
    },
    act: {
      app: 'Authenticator-App verwenden',
      email: 'Code per E-Mail an {to} senden',
      sms: 'Code per SMS an {to} senden',
      whatsapp: 'Code per WhatsApp an {to} senden',
      call: '{to} anrufen',
      dual: 'Denselben Code per E-Mail und SMS an {to} senden',
    },
    backup: 'Backup-Code verwenden',
    backupHint: 'Einer der Codes, die Sie gespeichert haben',
    backupMaybe: 'Haben Sie einen Backup-Code?',
    emailHint: 'Am wenigsten sicher: nur so sicher wie Ihr E-Mail-Konto',
    phoneHint: 'Weniger sicher als eine Authenticator-App',
    none: 'Für Ihr Konto ist noch keine Methode zur Bestätigung eingerichtet. Bitte wenden Sie sich an {app}.',
  },
  code: {
    title: {
      app: 'Code aus Ihrer App eingeben',
      email: 'Prüfen Sie Ihre E-Mails',
      sms: 'Prüfen Sie Ihre SMS',
      whatsapp: 'Prüfen Sie WhatsApp',
      call: 'Nehmen Sie den Anruf an',
      dual: 'Prüfen Sie E-Mails und SMS',
      backup: 'Backup-Code eingeben',
    },
    titleFirst: 'Code anfordern',
    titleNew: 'Neuen Code anfordern',
    sent: {
      email: 'Wir haben einen Bestätigungscode per E-Mail an {to} gesendet.',
      sms: 'Wir haben einen Bestätigungscode per SMS an {to} gesendet.',
      whatsapp: 'Wir haben einen Bestätigungscode per WhatsApp an {to} gesendet.',
      call: 'Wir rufen {to} an und nennen Ihnen einen Bestätigungscode.',
      dual: 'Wir haben denselben Bestätigungscode per E-Mail und SMS an {to} gesendet.',
    },
    queued: 'Ihr Bestätigungscode für {to} wird in Kürze gesendet. Das kann eine Minute dauern.',
    refused:
      'Ihr Bestätigungscode konnte nicht an {to} zugestellt werden. Wählen Sie unten eine andere Methode.',
    from: {
      app: 'Öffnen Sie Ihre Authenticator-App und geben Sie den Code ein, den sie für {app} anzeigt.',
      backup: 'Geben Sie einen Ihrer gespeicherten Codes ein. Jeder Code gilt nur einmal.',
    },
    label: 'Bestätigungscode',
    labelBackup: 'Backup-Code',
    submit: 'Weiter',
    trust: 'In diesem Browser {time} lang nicht mehr fragen',
    trustHint: 'Nur auf Ihrem eigenen Gerät verwenden.',
    expires: 'Der Code läuft {in} ab.',
    expired: 'Der Code ist abgelaufen. Fordern Sie einen neuen an.',
    again: 'Code erneut senden',
    callAgain: 'Erneut anrufen',
    restart: 'Mit neuem Code versuchen',
    againWait: 'Sie können den Code {in} erneut anfordern.',
    againReady: 'Sie können den Code jetzt erneut anfordern.',
    trouble: {
      app: 'Sie können die App nicht verwenden?',
      email: 'Keinen Code erhalten?',
      sms: 'Keinen Code erhalten?',
      whatsapp: 'Keinen Code erhalten?',
      call: 'Keinen Anruf erhalten?',
      dual: 'Keinen Code erhalten?',
      backup: 'Keinen Backup-Code zur Hand?',
    },
    tip: {
      app: 'Wenn Ihre Codes abgelehnt werden, stellen Sie die Uhr Ihres Telefons auf automatisch. Die Codes hängen von der Uhrzeit ab.',
      email: 'E-Mails brauchen manchmal eine Minute. Sehen Sie auch im Spam-Ordner nach.',
      sms: 'SMS brauchen manchmal eine Minute. Prüfen Sie, ob Ihr Telefon Empfang hat.',
      whatsapp: 'Prüfen Sie, ob Ihr Telefon online ist und WhatsApp Nachrichten empfangen kann.',
      call: 'Prüfen Sie, ob Ihr Telefon Empfang hat und unbekannte Anrufer nicht blockiert.',
      dual: 'Nachrichten brauchen manchmal eine Minute. Sehen Sie auch im Spam-Ordner nach. Beide Nachrichten enthalten denselben Code.',
      backup:
        'Wir haben Ihnen die Backup-Codes gesendet, als Sie sie angefordert haben. Verwendete Codes gelten nicht mehr.',
    },
    otherFactors: 'Andere Methode verwenden',
    allFactors: 'Alle Methoden anzeigen',
  },
  leave: {
    ends: 'Zu Ihrer Sicherheit läuft diese Anmeldung {in} ab.',
    cancel: 'Abbrechen und anderes Konto verwenden',
    notNow: 'Jetzt nicht',
    back: 'Zurück zu {app}',
  },
  enroll: {
    title: 'Authenticator‑App einrichten',
    lead: 'Eine App auf Ihrem Telefon erzeugt die Codes zum Anmelden. Sie funktioniert auch ohne Empfang und ist sicherer als SMS.',
    replaces: 'Sie ersetzt Ihre bisherige App. Die alte App gilt, bis Sie die neue bestätigt haben.',
    start: 'App einrichten',
    over: {
      exhausted: {
        title: 'Zu viele falsche Codes',
        advice:
          'Dieser QR-Code gilt nicht mehr, auch nicht mit einem richtigen Code. Löschen Sie das Konto aus Ihrer App und beginnen Sie mit einem neuen.',
      },
      expired: {
        title: 'Die Zeit ist abgelaufen',
        advice: 'Dieser QR-Code war 15 Minuten gültig und gilt nicht mehr. Beginnen Sie mit einem neuen.',
      },
    },
    restart: 'Neu beginnen',
    hidden:
      'Der QR-Code wird nur in dem Browser angezeigt, in dem Sie begonnen haben. Wenn Sie ihn nicht mehr haben, beginnen Sie neu.',
    stepOpen: 'Öffnen Sie Ihre Authenticator-App oder installieren Sie zuerst eine.',
    stepScan: 'Scannen Sie diesen QR-Code, um ein Konto hinzuzufügen.',
    stepKey: 'Geben Sie diesen Schlüssel ein, um ein Konto hinzuzufügen.',
    stepCode: 'Geben Sie den Code ein, den die App für {app} anzeigt.',
    qrAlt: 'QR-Code für Ihre Authenticator-App',
    samePhone: 'Ist die App auf diesem Gerät? Hier öffnen',
    cannotScan: 'Sie können den QR-Code nicht scannen?',
    secret: 'Geben Sie stattdessen diesen Schlüssel in die App ein:',
    secretSettings: 'Art des Schlüssels: zeitbasiert, 6 Ziffern.',
    copy: 'Schlüssel kopieren',
    copied: 'Kopiert',
    confirm: 'Bestätigen',
  },
  enrolled: {
    title: 'Ihre App ist bereit',
    lead: 'Ab jetzt können Sie sich mit den Codes Ihrer App bei {app} anmelden.',
    advice:
      'Fordern Sie jetzt Backup-Codes an, damit Sie sich auch anmelden können, wenn Sie Ihr Telefon verlieren.',
    adviceAlone:
      'Fügen Sie Ihrem Konto bei {app} auch eine E-Mail-Adresse oder Telefonnummer hinzu, damit Sie sich auch anmelden können, wenn Sie Ihr Telefon verlieren.',
    backup: 'Backup-Codes anfordern',
    done: 'Weiter zu {app}',
  },
  backup: {
    title: 'Backup-Codes anfordern',
    lead: 'Mit Backup-Codes können Sie sich anmelden, wenn Ihre anderen Methoden nicht verfügbar sind. Jeder Code gilt nur einmal.',
    to: 'Wir senden sie an {to}.',
    replaces: 'Früher gesendete Backup-Codes gelten dann nicht mehr.',
    send: 'Codes senden',
    sentTitle: 'Backup-Codes gesendet',
    sent: 'Ihre neuen Backup-Codes sind unterwegs an {to}.',
    count: {
      one: 'Es ist {count} Code. Er gilt nur einmal.',
      other: 'Es sind {count} Codes. Jeder gilt nur einmal.',
    },
    keep: 'Drucken Sie sie aus oder speichern Sie sie in einem Passwortmanager. Bewahren Sie sie nicht nur dort auf, wo Sie sie erhalten haben.',
  },
  codesLeft: {
    title: 'Nur noch wenige Backup-Codes',
    used: 'Backup-Code verwendet',
    left: { one: 'Sie haben noch {count} Backup-Code.', other: 'Sie haben noch {count} Backup-Codes.' },
    none: 'Das war Ihr letzter Backup-Code.',
    zero: 'Sie haben keine Backup-Codes.',
    advice:
      'Fordern Sie neue an, bevor Sie sie brauchen. Ohne Backup-Code verlieren Sie möglicherweise den Zugriff auf Ihr Konto, wenn Ihre anderen Methoden nicht verfügbar sind.',
  },
  overview: {
    title: 'Sicherheit Ihrer Anmeldung',
    lead: 'Mit diesen Methoden können Sie bei der Anmeldung Ihre Identität bestätigen.',
    none: 'Sie verwenden die Bestätigung in zwei Schritten noch nicht. Schützen Sie Ihr Konto mit einer Authenticator-App.',
    factors: 'Methoden zur Bestätigung',
    method: {
      app: 'Authenticator-App',
      email: 'E-Mail',
      sms: 'SMS',
      whatsapp: 'WhatsApp',
      call: 'Anruf',
      dual: 'E-Mail und SMS',
    },
    enroll: 'Authenticator-App einrichten',
    replace: 'Authenticator-App ersetzen',
    backup: 'Neue Backup-Codes anfordern',
    change: 'Ändern',
    add: 'Telefonnummer oder E-Mail-Adresse hinzufügen',
  },
  resume: {
    title: 'Prüfen und bestätigen',
    lead: 'Es wurde noch nichts abgeschickt. Prüfen Sie Ihre Eingaben und bestätigen Sie dann.',
    hidden: 'wird hier nicht angezeigt',
    confirm: 'Bestätigen',
  },
  devices: {
    title: 'Vertrauenswürdige Geräte',
    lead: 'In diesen Browsern können Sie sich ohne zweiten Schritt bei {app} anmelden. Entfernen Sie alle, die Sie nicht kennen.',
    none: 'Sie haben keine vertrauenswürdigen Browser. Um einen hinzuzufügen, setzen Sie beim Bestätigen einer Anmeldung das Häkchen.',
    name: '{browser} auf {system}',
    unknown: 'Unbekannter Browser',
    current: 'Dieser Browser',
    used: 'Zuletzt verwendet: {when}',
    ends: 'Läuft {in} ab',
    revoke: 'Entfernen',
    revokeAll: 'Alle entfernen',
  },
  notMe: {
    title: 'Schützen Sie Ihr Konto',
    lead: 'Wenn jemand anderes Ihr Konto bei {app} verwendet hat, beenden Sie hier den Zugriff. Alle werden abgemeldet, auch Sie, und alle vertrauenswürdigen Browser werden entfernt.',
    confirm: 'Das war ich nicht: alle abmelden',
    otherwise: 'Wenn Sie es waren, schließen Sie diese Seite. Es wurde nichts geändert.',
    doneTitle: 'Alle sind abgemeldet',
    done: 'Alle Sitzungen Ihres Kontos bei {app} wurden beendet und alle vertrauenswürdigen Browser entfernt.',
    next: 'Melden Sie sich jetzt an und ändern Sie Ihr Passwort. Jemand anderes kennt es möglicherweise.',
  },
  recovery: {
    link: 'Kein Zugriff mehr auf App oder Telefon?',
    title: 'Konto wiederherstellen',
    lead: 'Wenn Sie Ihre sicherste Anmeldemethode nicht mehr verwenden können, können Sie nach einer Wartezeit von {time} eine neue einrichten.',
    notify:
      'Wir benachrichtigen alle diese Kontakte jetzt und noch einmal nach der halben Zeit. Mit jeder Nachricht lässt sich die Wiederherstellung abbrechen:',
    ends: 'Melden Sie sich nach der Wartezeit noch einmal so an wie heute. Ihre alte Methode gilt dann nicht mehr, alle anderen Sitzungen enden und alle vertrauenswürdigen Browser werden entfernt.',
    request: 'Wiederherstellung anfordern',
    impossible:
      'Um Ihr Konto hier wiederherzustellen, brauchen Sie eine weitere Methode zur Bestätigung, und Ihr Konto hat keine. Bitte wenden Sie sich an {app}.',
    waitingTitle: 'Ihre Wiederherstellung wartet',
    waiting: 'Sie können {in} eine neue Anmeldemethode einrichten. Melden Sie sich dann noch einmal an.',
    notified: 'Wir haben diese Kontakte benachrichtigt:',
    stop: 'Wenn Sie sich in der Zwischenzeit mit Ihrer alten Methode anmelden, wird die Wiederherstellung abgebrochen.',
    readyTitle: 'Ihre Wiederherstellung ist bereit',
    ready:
      'Richten Sie jetzt eine neue Anmeldemethode ein. Die alte gilt dann nicht mehr, alle anderen Sitzungen enden und alle vertrauenswürdigen Browser werden entfernt.',
    complete: 'Neue Methode einrichten',
    cancel: 'Wiederherstellung abbrechen',
    cancelTitle: 'Kontowiederherstellung abbrechen?',
    cancelLead:
      'Jemand, der Ihr Passwort bei {app} kennt, möchte Ihre sicherste Anmeldemethode ersetzen. Wenn Sie das nicht waren, brechen Sie es hier ab.',
    cancelledTitle: 'Die Wiederherstellung ist abgebrochen',
    cancelled: 'Ihr Konto bei {app} behält seine Anmeldemethoden.',
    cancelledNext:
      'Wenn Sie die Wiederherstellung nicht angefordert haben, ändern Sie jetzt Ihr Passwort. Jemand anderes kennt es möglicherweise.',
  },
  bypass: {
    title: 'Geben Sie den Code vom Support ein',
    lead: 'Unser Support hat Ihre Anmeldemethoden zurückgesetzt. Geben Sie den Code ein, den Sie erhalten haben. Er gilt einmal und eine Stunde lang. Richten Sie danach eine neue Anmeldemethode ein.',
    label: 'Code vom Support',
  },
  language: 'Sprache',
  stop: { 'sign-in': 'Anmelden', retry: 'Erneut versuchen', home: 'Zurück zu {app}' },
  stopReady: 'Sie können es jetzt erneut versuchen.',
  clockSlow:
    'Dieser Code ist etwa {time} alt. Die Uhr Ihres Telefons scheint falsch zu gehen. Stellen Sie sie auf automatisch.',
  attemptsLeft: { one: 'Sie haben noch {count} Versuch.', other: 'Sie haben noch {count} Versuche.' },
  success: {
    code_sent: 'Code gesendet.',
    code_sent_again: 'Code erneut gesendet.',
    code_queued: 'Ihr Code wird gleich gesendet.',
    device_revoked: 'Der Browser ist nicht mehr vertrauenswürdig.',
    devices_revoked: 'Alle vertrauenswürdigen Browser wurden entfernt.',
  },
  problems: {
    sign_in_required: {
      title: 'Bitte melden Sie sich zuerst an',
      advice: 'Sie sind bei {app} nicht angemeldet.',
    },
    pending_login_expired: {
      title: 'Ihre Anmeldung hat zu lange gedauert',
      advice: 'Sie wurde zu Ihrer Sicherheit beendet. Bitte melden Sie sich erneut an.',
    },
    mfa_required: {
      title: 'Noch ein Schritt',
      advice: 'Bitte bestätigen Sie Ihre Identität, um fortzufahren.',
    },
    step_up_required: {
      title: 'Bitte bestätigen Sie erneut',
      advice: 'Ihre letzte Bestätigung liegt für diese Aktion zu lange zurück.',
    },
    enrollment_required: {
      title: 'Richten Sie zuerst die Bestätigung in zwei Schritten ein',
      advice:
        'Dieser Bereich von {app} ist nur für Konten mit Bestätigung in zwei Schritten, zum Beispiel mit einer Authenticator-App.',
    },
    session_ended: {
      title: 'Ihre Sitzung ist beendet',
      advice: 'Sie haben sich inzwischen abgemeldet oder neu angemeldet. Bitte melden Sie sich erneut an.',
    },
    invalid_code: {
      title: 'Falscher Code',
      advice: 'Prüfen Sie den Code und versuchen Sie es erneut.',
    },
    code_expired: { title: 'Der Code ist abgelaufen', advice: 'Fordern Sie einen neuen an.' },
    no_challenge: { title: 'Es wurde noch kein Code gesendet', advice: 'Fordern Sie zuerst einen Code an.' },
    challenge_exhausted: {
      title: 'Zu viele falsche Codes',
      advice:
        'Dieser Code gilt nicht mehr, auch wenn Sie ihn richtig eingeben. Beginnen Sie mit einem neuen.',
    },
    locked: {
      title: 'Vorübergehend gesperrt',
      advice: 'Für Ihr Konto wurden zu viele falsche Codes eingegeben. Sie können es {in} erneut versuchen.',
    },
    resend_too_soon: {
      title: 'Sie haben gerade erst einen Code angefordert',
      advice: 'Sie können ihn {in} erneut anfordern.',
    },
    too_many_messages: {
      title: 'Zu viele Codes gesendet',
      advice:
        'Für Ihr Konto ist die Höchstzahl an Nachrichten erreicht. Sie können {in} wieder einen Code anfordern.',
    },
    unknown_factor: {
      title: 'Diese Methode ist nicht verfügbar',
      advice: 'Sie gehört nicht mehr zu Ihrem Konto. Bitte wählen Sie eine andere Methode.',
    },
    factor_disabled: {
      title: 'Diese Methode ist deaktiviert',
      advice:
        'Sie ist zu oft fehlgeschlagen und muss neu eingerichtet werden. Bitte wählen Sie eine andere Methode.',
    },
    method_off: {
      title: 'Diese Methode wird hier nicht angeboten',
      advice: 'Bitte wählen Sie eine andere Methode.',
    },
    contact_refused: {
      title: 'Wir können diese Adresse oder Nummer nicht erreichen',
      advice: 'Bitte wählen Sie eine andere Methode.',
    },
    delivery_failed: {
      title: 'Der Code konnte nicht zugestellt werden',
      advice:
        'Der Mobilfunk- oder E-Mail-Anbieter hat die Nachricht abgelehnt. Versuchen Sie es erneut oder wählen Sie eine andere Methode.',
    },
    contact_needed: {
      title: 'Für Backup-Codes fehlt ein Kontakt',
      advice:
        'Fügen Sie Ihrem Konto bei {app} zuerst eine E-Mail-Adresse oder Telefonnummer hinzu und kommen Sie dann zurück.',
    },
    recovery_not_needed: {
      title: 'Sie brauchen keine Wiederherstellung',
      advice:
        'Sie haben sich gerade mit Ihrer sichersten Anmeldemethode bestätigt oder haben keine sicherere. Sie können Ihre Methoden direkt ändern.',
    },
    no_recovery: {
      title: 'Es läuft keine Wiederherstellung',
      advice: 'Sie wurde abgebrochen, abgeschlossen oder ist abgelaufen. Sie können eine neue anfordern.',
    },
    recovery_waiting: {
      title: 'Bitte warten Sie noch etwas',
      advice: 'Sie können {in} eine neue Anmeldemethode einrichten.',
    },
    bypass_code_required: {
      title: 'Geben Sie den Code vom Support ein',
      advice: 'Ihre Anmeldemethoden wurden zurückgesetzt. Jetzt gilt nur der Code von unserem Support.',
    },
    recovery_not_notified: {
      title: 'Eine Wiederherstellung ist gerade nicht möglich',
      advice:
        'Wir konnten keinen Ihrer Kontakte erreichen, daher wurde nichts gestartet. Bitte versuchen Sie es später noch einmal.',
    },
    invalid_request: {
      title: 'Es fehlt eine Angabe',
      advice: 'Bitte füllen Sie das Formular aus und senden Sie es erneut.',
    },
    cross_site: {
      title: 'Diese Anfrage kam von einer anderen Website',
      advice:
        'Zu Ihrer Sicherheit wurde nichts ausgeführt. Gehen Sie zurück zu {app} und versuchen Sie es dort erneut.',
    },
    not_found: {
      title: 'Seite nicht gefunden',
      advice: 'Die Adresse ist möglicherweise veraltet oder falsch eingegeben.',
    },
    unknown_link: {
      title: 'Dieser Link gilt nicht mehr',
      advice:
        'Er wurde bereits verwendet oder ist abgelaufen. Wenn Sie besorgt sind, melden Sie sich bei {app} an und ändern Sie Ihr Passwort.',
    },
    unknown_device: {
      title: 'Dieser Browser ist nicht in der Liste',
      advice: 'Möglicherweise wurde er bereits entfernt.',
    },
    method_not_allowed: {
      title: 'Diese Adresse lässt sich nicht direkt öffnen',
      advice: 'Bitte gehen Sie zurück und verwenden Sie das Formular auf der Seite.',
    },
    unsupported_media_type: {
      title: 'Das Formular konnte nicht gelesen werden',
      advice: 'Bitte verwenden Sie das Formular auf der Seite.',
    },
    body_too_large: { title: 'Die Eingabe war zu lang', advice: 'Bitte geben Sie nur den Code ein.' },
    service_unavailable: {
      title: 'Wir können gerade keine Codes prüfen',
      advice:
        'Das liegt nicht an Ihnen und zählt nicht als Versuch. Bitte versuchen Sie es in ein paar Minuten erneut.',
    },
    delivery_unavailable: {
      title: 'Wir können gerade keine Codes senden',
      advice:
        'Das liegt nicht an Ihnen und zählt nicht als Versuch. Wählen Sie unten eine andere Methode oder versuchen Sie es in ein paar Minuten erneut.',
    },
    service_misconfigured: {
      title: 'Wir können gerade keine Codes prüfen',
      advice:
        'Bei {app} muss zuerst ein Problem behoben werden. Bitte melden Sie es oder versuchen Sie es später erneut.',
    },
    internal_error: {
      title: 'Etwas ist schiefgegangen',
      advice: 'Das war unser Fehler. Bitte versuchen Sie es gleich noch einmal.',
    },
  },
}
