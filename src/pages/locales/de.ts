import type { Catalogue } from './catalogue.js'

/** German. */
export const de: Catalogue = {
  dir: 'ltr',
  documentTitle: '{page} – {app}',
  documentTitleError: 'Fehler: {page} – {app}',
  later: 'später',
  grace: 'Bitte richten Sie bis zum {date} einen zweiten Schritt ein.',
  choose: {
    title: 'Bestätigen Sie, dass Sie es sind',
    lead: {
      'sign-in': 'Noch ein Schritt, dann sind Sie bei {app} angemeldet. Wie möchten Sie bestätigen?',
      'step-up': 'Dafür brauchen wir eine neue Bestätigung. Wie möchten Sie bestätigen?',
      manage: 'Bevor Sie hier etwas ändern: Wie möchten Sie bestätigen?',
    },
    act: {
      app: 'Authenticator-App verwenden',
      email: 'Code per E-Mail an {to} senden',
      sms: 'Code per SMS an {to} senden',
      whatsapp: 'Code per WhatsApp an {to} senden',
      call: '{to} anrufen',
      dual: 'Einen Code an beide senden: {to}',
    },
    backup: 'Backup-Code verwenden',
    backupHint: 'Einer der Codes, die Sie für solche Fälle aufbewahren',
    emailHint: 'Der schwächste Weg: nur so sicher wie Ihr Postfach',
    phoneHint: 'Weniger sicher als eine Authenticator-App',
    none: 'Für Ihr Konto ist noch kein Weg zur Bestätigung eingerichtet. Bitte wenden Sie sich an die Betreiber von {app}.',
  },
  code: {
    title: {
      app: 'Code aus Ihrer App eingeben',
      email: 'Prüfen Sie Ihre E-Mails',
      sms: 'Prüfen Sie Ihre SMS',
      whatsapp: 'Prüfen Sie WhatsApp',
      call: 'Nehmen Sie den Anruf an',
      dual: 'Prüfen Sie E-Mail und Telefon',
      backup: 'Backup-Code eingeben',
    },
    titleFirst: 'Code anfordern',
    titleNew: 'Neuen Code anfordern',
    sent: {
      email: 'Wir haben einen Code per E-Mail an {to} gesendet.',
      sms: 'Wir haben einen Code per SMS an {to} gesendet.',
      whatsapp: 'Wir haben einen Code per WhatsApp an {to} gesendet.',
      call: 'Wir rufen {to} an und sagen Ihnen einen Code.',
      dual: 'Wir haben denselben Code an beide gesendet: {to}.',
    },
    queued: 'Ihr Code für {to} wartet noch auf die Zustellung. Das kann eine Minute dauern.',
    refused: 'Ihr Code für {to} konnte nicht zugestellt werden. Versuchen Sie unten einen anderen Weg.',
    from: {
      app: 'Öffnen Sie Ihre Authenticator-App und geben Sie den Code ein, den sie für {app} anzeigt.',
      backup: 'Geben Sie einen Ihrer aufbewahrten Codes ein. Jeder gilt nur einmal.',
    },
    label: 'Code',
    labelBackup: 'Backup-Code',
    submit: 'Weiter',
    trust: 'In diesem Browser {time} lang nicht mehr fragen',
    trustHint: 'Nur auf einem eigenen Gerät.',
    expires: 'Der Code läuft {in} ab.',
    expired: 'Der Code ist abgelaufen. Fordern Sie einen neuen an.',
    again: 'Code noch einmal senden',
    callAgain: 'Noch einmal anrufen',
    restart: 'Mit neuem Code versuchen',
    againWait: 'Das geht {in} wieder.',
    againReady: 'Sie können den Code jetzt noch einmal anfordern.',
    trouble: {
      app: 'Können Sie die App nicht verwenden?',
      email: 'Kommt der Code nicht an?',
      sms: 'Kommt der Code nicht an?',
      whatsapp: 'Kommt der Code nicht an?',
      call: 'Kommt der Anruf nicht an?',
      dual: 'Kommt der Code nicht an?',
      backup: 'Kein Backup-Code zur Hand?',
    },
    tip: {
      app: 'Werden Ihre Codes abgelehnt? Dann stellen Sie die Uhr Ihres Telefons auf automatisch: Die Codes hängen von der Uhrzeit ab.',
      email: 'E-Mails brauchen manchmal eine Minute. Sehen Sie auch im Spam-Ordner nach.',
      sms: 'SMS brauchen manchmal eine Minute. Prüfen Sie, ob Ihr Telefon Empfang hat.',
      whatsapp: 'Prüfen Sie, ob Ihr Telefon online ist und WhatsApp neue Nachrichten empfängt.',
      call: 'Prüfen Sie, ob Ihr Telefon Empfang hat und unbekannte Anrufer nicht abweist.',
      dual: 'Nachrichten brauchen manchmal eine Minute. Sehen Sie auch im Spam-Ordner nach; beide enthalten denselben Code.',
      backup: 'Backup-Codes haben Sie erhalten, als Sie sie angefordert haben. Verwendete gelten nicht mehr.',
    },
    otherFactors: 'Andere Wege',
    allFactors: 'Alle Wege anzeigen',
  },
  leave: {
    ends: 'Zu Ihrer Sicherheit endet diese Anmeldung {in}.',
    cancel: 'Abbrechen und als jemand anderes anmelden',
    notNow: 'Jetzt nicht',
    back: 'Zurück zu {app}',
  },
  enroll: {
    title: 'Authenticator‑App einrichten',
    lead: 'Eine App auf Ihrem Telefon erzeugt die Codes zum Anmelden. Das geht auch ohne Empfang und ist sicherer als SMS.',
    replaces: 'Sie ersetzt Ihre bisherige App. Die alte gilt, bis die neue bestätigt ist.',
    start: 'App einrichten',
    stepOpen: 'Öffnen Sie Ihre Authenticator-App oder installieren Sie zuerst eine.',
    stepScan: 'Fügen Sie ein Konto hinzu, indem Sie dieses Bild scannen.',
    stepKey: 'Fügen Sie ein Konto hinzu, indem Sie diesen Schlüssel eingeben.',
    stepCode: 'Geben Sie den Code ein, den die App für {app} anzeigt.',
    qrAlt: 'QR-Code für Ihre Authenticator-App',
    samePhone: 'Ist die App auf diesem Gerät? Hier öffnen',
    cannotScan: 'Können Sie das Bild nicht scannen?',
    secret: 'Geben Sie stattdessen diesen Schlüssel in die App ein:',
    secretSettings: 'Art des Schlüssels: zeitbasiert, 6 Ziffern.',
    copy: 'Schlüssel kopieren',
    copied: 'Kopiert',
    confirm: 'Bestätigen',
  },
  enrolled: {
    title: 'Ihre App ist bereit',
    lead: 'Ab jetzt können Sie sich mit ihren Codes bei {app} anmelden.',
    advice:
      'Telefone gehen verloren. Holen Sie sich jetzt Backup-Codes, damit Sie sich auch ohne Ihr Telefon anmelden können.',
    adviceAlone:
      'Telefone gehen verloren. Tragen Sie bei {app} auch eine E-Mail-Adresse oder Telefonnummer ein, damit Sie sich auch ohne Ihr Telefon anmelden können.',
    backup: 'Backup-Codes anfordern',
    done: 'Weiter zu {app}',
  },
  backup: {
    title: 'Backup-Codes anfordern',
    lead: 'Mit Backup-Codes melden Sie sich an, wenn kein anderer Weg offen ist. Jeder gilt nur einmal.',
    to: 'Wir senden sie an {to}.',
    replaces: 'Codes, die Sie früher erhalten haben, gelten dann nicht mehr.',
    send: 'Codes senden',
    sentTitle: 'Backup-Codes gesendet',
    sent: 'Ihre neuen Backup-Codes sind unterwegs an {to}.',
    count: {
      one: 'Es ist {count} Code, der einmal gilt.',
      other: 'Es sind {count} Codes; jeder gilt einmal.',
    },
    keep: 'Drucken Sie sie aus oder bewahren Sie sie in einem Passwortmanager auf, nicht nur dort, wo Sie sie erhalten haben.',
  },
  codesLeft: {
    title: 'Nur noch wenige Backup-Codes',
    left: { one: 'Sie haben noch {count} Backup-Code.', other: 'Sie haben noch {count} Backup-Codes.' },
    none: 'Das war Ihr letzter Backup-Code.',
    advice:
      'Holen Sie sich neue, bevor Sie sie brauchen: Ohne einen kommen Sie vielleicht nicht mehr hinein, wenn Sie Ihre anderen Wege verlieren.',
  },
  overview: {
    title: 'Sicherheit Ihrer Anmeldung',
    lead: 'So können Sie bestätigen, dass Sie es sind.',
    none: 'Sie haben noch keinen zweiten Weg, sich auszuweisen. Schützen Sie Ihr Konto mit einer Authenticator-App.',
    factors: 'Wege zur Bestätigung',
    method: {
      app: 'Authenticator-App',
      email: 'E-Mail',
      sms: 'SMS',
      whatsapp: 'WhatsApp',
      call: 'Telefonanruf',
      dual: 'E-Mail und Telefon zusammen',
    },
    enroll: 'Authenticator-App einrichten',
    replace: 'Authenticator-App ersetzen',
    backup: 'Neue Backup-Codes anfordern',
  },
  resume: {
    title: 'Damit weitermachen?',
    lead: 'Sie haben sich bestätigt. Bisher ist nichts geschehen: Prüfen Sie die Angaben und senden Sie sie noch einmal ab.',
    hidden: 'wird hier nicht gezeigt',
    confirm: 'Ja, weitermachen',
  },
  devices: {
    title: 'Vertraute Geräte',
    lead: 'Diese Browser melden sich ohne den zweiten Schritt bei {app} an. Entziehen Sie jedem das Vertrauen, den Sie nicht kennen.',
    none: 'Keinem Browser wird vertraut. Dazu setzen Sie beim Bestätigen einer Anmeldung das Häkchen.',
    name: '{browser} auf {system}',
    unknown: 'Unbekannter Browser',
    current: 'Dieser Browser',
    used: 'Zuletzt verwendet: {when}',
    ends: 'Endet {in}',
    revoke: 'Nicht mehr vertrauen',
    revokeAll: 'Keinem davon mehr vertrauen',
  },
  notMe: {
    title: 'Das waren nicht Sie?',
    lead: 'Wenn jemand anders in Ihrem Konto bei {app} war, beenden Sie es hier: Alle werden abgemeldet, auch Sie, und keinem Browser wird mehr vertraut.',
    confirm: 'Das war ich nicht: alle abmelden',
    otherwise: 'Wenn Sie es waren, schließen Sie diese Seite. Es wurde nichts geändert.',
    doneTitle: 'Alle sind abgemeldet',
    done: 'Alle Anmeldungen bei Ihrem Konto bei {app} sind beendet, und keinem Browser wird mehr vertraut.',
    next: 'Melden Sie sich jetzt an und ändern Sie Ihr Passwort: Wer es auch war, kennt es vielleicht.',
  },
  language: 'Sprache',
  stop: { 'sign-in': 'Anmelden', retry: 'Noch einmal versuchen', home: 'Zurück zu {app}' },
  stopReady: 'Sie können es jetzt wieder versuchen.',
  clockSlow:
    'Dieser Code ist etwa {time} alt: Die Uhr Ihres Telefons scheint falsch zu gehen. Stellen Sie sie auf automatisch.',
  attemptsLeft: { one: 'Sie haben noch {count} Versuch.', other: 'Sie haben noch {count} Versuche.' },
  success: {
    code_sent: 'Code gesendet.',
    code_sent_again: 'Code noch einmal gesendet.',
    code_queued: 'Ihr Code geht gleich hinaus.',
    device_revoked: 'Diesem Browser wird nicht mehr vertraut.',
    devices_revoked: 'Keinem Browser wird mehr vertraut.',
  },
  problems: {
    sign_in_required: {
      title: 'Bitte melden Sie sich zuerst an',
      advice: 'Sie sind bei {app} nicht angemeldet.',
    },
    pending_login_expired: {
      title: 'Die Anmeldung hat zu lange gedauert',
      advice: 'Zu Ihrer Sicherheit wurde sie beendet. Bitte melden Sie sich neu an.',
    },
    mfa_required: {
      title: 'Noch ein Schritt',
      advice: 'Bitte bestätigen Sie, dass Sie es sind, um fortzufahren.',
    },
    step_up_required: {
      title: 'Bitte bestätigen Sie noch einmal',
      advice: 'Ihre letzte Bestätigung liegt dafür zu lange zurück.',
    },
    enrollment_required: {
      title: 'Richten Sie zuerst einen zweiten Schritt ein',
      advice:
        'Dieser Teil von {app} steht nur Konten mit einem zweiten Schritt offen, etwa einer Authenticator-App.',
    },
    session_ended: {
      title: 'Ihre Sitzung ist beendet',
      advice: 'Sie haben sich inzwischen ab- oder neu angemeldet. Bitte melden Sie sich noch einmal an.',
    },
    invalid_code: {
      title: 'Dieser Code stimmt nicht',
      advice: 'Prüfen Sie ihn und versuchen Sie es noch einmal.',
    },
    code_expired: { title: 'Dieser Code ist abgelaufen', advice: 'Fordern Sie einen neuen an.' },
    no_challenge: { title: 'Es wurde noch kein Code gesendet', advice: 'Fordern Sie zuerst einen Code an.' },
    challenge_exhausted: {
      title: 'Zu viele falsche Codes',
      advice: 'Dieser Code gilt nicht mehr, auch richtig eingegeben. Beginnen Sie mit einem neuen.',
    },
    locked: {
      title: 'Für eine Weile gesperrt',
      advice: 'Für Ihr Konto wurden zu viele falsche Codes eingegeben. Sie können es {in} wieder versuchen.',
    },
    resend_too_soon: {
      title: 'Sie haben gerade erst einen Code angefordert',
      advice: 'Sie können ihn {in} noch einmal anfordern.',
    },
    too_many_messages: {
      title: 'Zu viele Codes gesendet',
      advice:
        'Für Ihr Konto sind vorerst genug Nachrichten verschickt. Sie können {in} wieder einen Code anfordern.',
    },
    unknown_factor: {
      title: 'Dieser Weg ist nicht verfügbar',
      advice: 'Ihr Konto hat ihn nicht mehr. Bitte wählen Sie einen anderen.',
    },
    factor_disabled: {
      title: 'Dieser Weg ist abgeschaltet',
      advice:
        'Er ist zu oft fehlgeschlagen und muss neu eingerichtet werden. Bitte wählen Sie einen anderen Weg.',
    },
    method_off: {
      title: 'Dieser Weg wird hier nicht angeboten',
      advice: 'Bitte wählen Sie einen anderen Weg.',
    },
    contact_refused: {
      title: 'Wir erreichen diese Adresse oder Nummer nicht',
      advice: 'Bitte wählen Sie einen anderen Weg.',
    },
    delivery_failed: {
      title: 'Der Code konnte nicht zugestellt werden',
      advice:
        'Der Mobilfunk- oder Mailanbieter hat die Nachricht abgelehnt. Versuchen Sie es noch einmal oder wählen Sie einen anderen Weg.',
    },
    contact_needed: {
      title: 'Backup-Codes können nirgends ankommen',
      advice:
        'Tragen Sie bei {app} zuerst eine E-Mail-Adresse oder Telefonnummer ein und kommen Sie dann wieder.',
    },
    invalid_request: {
      title: 'Da hat etwas gefehlt',
      advice: 'Bitte füllen Sie das Formular aus und senden Sie es noch einmal.',
    },
    cross_site: {
      title: 'Diese Anfrage kam von einer anderen Website',
      advice:
        'Zu Ihrer Sicherheit ist nichts geschehen. Gehen Sie zu {app} zurück und versuchen Sie es dort noch einmal.',
    },
    not_found: { title: 'Hier gibt es nichts', advice: 'Die Adresse ist vielleicht veraltet oder vertippt.' },
    unknown_link: {
      title: 'Dieser Link gilt nicht mehr',
      advice:
        'Er wurde schon verwendet oder ist zu alt. Wenn Sie besorgt sind, melden Sie sich bei {app} an und ändern Sie Ihr Passwort.',
    },
    unknown_device: {
      title: 'Dieser Browser steht nicht in der Liste',
      advice: 'Vielleicht wurde er schon entfernt.',
    },
    method_not_allowed: {
      title: 'Das geht an dieser Adresse nicht',
      advice: 'Bitte gehen Sie zurück und beginnen Sie auf der Seite selbst.',
    },
    unsupported_media_type: {
      title: 'Das konnten wir nicht lesen',
      advice: 'Bitte verwenden Sie das Formular auf der Seite.',
    },
    body_too_large: { title: 'Das war zu lang', advice: 'Bitte geben Sie nur den Code ein.' },
    service_unavailable: {
      title: 'Wir können gerade keine Codes prüfen',
      advice:
        'Es liegt nicht an Ihnen und hat Sie keinen Versuch gekostet. Bitte versuchen Sie es in ein paar Minuten noch einmal.',
    },
    delivery_unavailable: {
      title: 'Wir können gerade keine Codes verschicken',
      advice:
        'Es liegt nicht an Ihnen und hat Sie keinen Versuch gekostet. Nehmen Sie unten einen anderen Weg, oder versuchen Sie es in ein paar Minuten noch einmal.',
    },
    service_misconfigured: {
      title: 'Wir können gerade keine Codes prüfen',
      advice:
        'Die Betreiber von {app} müssen erst etwas in Ordnung bringen. Sagen Sie ihnen bitte Bescheid oder versuchen Sie es später noch einmal.',
    },
    internal_error: {
      title: 'Etwas ist schiefgegangen',
      advice: 'Das war unser Fehler. Bitte versuchen Sie es gleich noch einmal.',
    },
  },
}
