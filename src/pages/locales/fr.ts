import type { Catalogue } from './catalogue.js'

/** French. */
export const fr: Catalogue = {
  dir: 'ltr',
  documentTitle: '{page} – {app}',
  documentTitleError: 'Erreur : {page} – {app}',
  later: 'plus tard',
  grace: 'Veuillez configurer une seconde étape avant le {date}.',
  choose: {
    title: 'Confirmez que c’est bien vous',
    lead: {
      'sign-in': 'Encore une étape pour vous connecter à {app}. Comment voulez-vous confirmer ?',
      'step-up': 'Cette action demande une nouvelle confirmation. Comment voulez-vous confirmer ?',
      manage: 'Avant tout changement ici, comment voulez-vous confirmer que c’est vous ?',
    },
    act: {
      app: 'Utiliser votre application d’authentification',
      email: 'Envoyer un code par e-mail à {to}',
      sms: 'Envoyer un code par SMS au {to}',
      whatsapp: 'Envoyer un code par WhatsApp au {to}',
      call: 'Appeler le {to}',
      dual: 'Envoyer un même code aux deux : {to}',
    },
    backup: 'Utiliser un code de secours',
    backupHint: 'Un des codes que vous gardez pour ces moments-là',
    emailHint: 'Le choix le moins sûr : il vaut ce que vaut votre messagerie',
    phoneHint: 'Moins sûr qu’une application d’authentification',
    none: 'Votre compte n’a encore aucun moyen de confirmation. Veuillez contacter les responsables de {app}.',
  },
  code: {
    title: {
      app: 'Saisissez le code de votre application',
      email: 'Consultez vos e-mails',
      sms: 'Consultez vos SMS',
      whatsapp: 'Consultez WhatsApp',
      call: 'Répondez au téléphone',
      dual: 'Consultez vos e-mails et votre téléphone',
      backup: 'Saisissez un code de secours',
    },
    titleFirst: 'Demandez votre code',
    titleNew: 'Demandez un nouveau code',
    sent: {
      email: 'Nous avons envoyé un code par e-mail à {to}.',
      sms: 'Nous avons envoyé un code par SMS au {to}.',
      whatsapp: 'Nous avons envoyé un code par WhatsApp au {to}.',
      call: 'Nous appelons le {to} pour vous dicter un code.',
      dual: 'Nous avons envoyé le même code aux deux : {to}.',
    },
    queued: 'Votre code pour {to} attend d’être remis. Cela peut prendre une minute.',
    refused: 'Votre code pour {to} n’a pas pu être remis. Essayez un autre moyen ci-dessous.',
    from: {
      app: 'Ouvrez votre application d’authentification et saisissez le code qu’elle affiche pour {app}.',
      backup: 'Saisissez un des codes que vous avez gardés. Chacun ne sert qu’une fois.',
    },
    label: 'Code',
    labelBackup: 'Code de secours',
    submit: 'Continuer',
    trust: 'Ne plus demander dans ce navigateur pendant {time}',
    trustHint: 'Seulement sur un appareil à vous.',
    expires: 'Le code expire {in}.',
    expired: 'Le code a expiré. Demandez-en un nouveau.',
    again: 'Renvoyer le code',
    callAgain: 'Rappeler',
    restart: 'Essayer avec un nouveau code',
    againWait: 'Vous pourrez le redemander {in}.',
    againReady: 'Vous pouvez maintenant redemander le code.',
    trouble: {
      app: 'Vous ne pouvez pas utiliser l’application ?',
      email: 'Vous ne recevez pas le code ?',
      sms: 'Vous ne recevez pas le code ?',
      whatsapp: 'Vous ne recevez pas le code ?',
      call: 'Vous ne recevez pas l’appel ?',
      dual: 'Vous ne recevez pas le code ?',
      backup: 'Pas de code de secours sous la main ?',
    },
    tip: {
      app: 'Si vos codes sont refusés, réglez l’heure de votre téléphone sur automatique : les codes en dépendent.',
      email: 'Un e-mail peut mettre une minute à arriver. Regardez aussi dans les indésirables.',
      sms: 'Un SMS peut mettre une minute à arriver. Vérifiez que votre téléphone capte le réseau.',
      whatsapp: 'Vérifiez que votre téléphone est connecté et que WhatsApp reçoit des messages.',
      call: 'Vérifiez que votre téléphone capte le réseau et ne rejette pas les numéros inconnus.',
      dual: 'Les messages peuvent mettre une minute à arriver. Regardez aussi dans les indésirables ; le code est le même des deux côtés.',
      backup:
        'Vous avez reçu vos codes de secours quand vous les avez demandés. Un code déjà utilisé ne sert plus.',
    },
    otherFactors: 'Autres moyens de confirmer',
    allFactors: 'Voir tous les moyens de confirmer',
  },
  leave: {
    ends: 'Pour votre sécurité, cette connexion prend fin {in}.',
    cancel: 'Annuler et changer de compte',
    notNow: 'Pas maintenant',
    back: 'Retour à {app}',
  },
  enroll: {
    title: 'Configurez une application d’authentification',
    lead: 'Une application sur votre téléphone crée les codes de connexion. Elle fonctionne sans réseau et elle est plus sûre que les SMS.',
    replaces:
      'Elle remplace l’application que vous utilisez. L’ancienne reste valable jusqu’à la confirmation de la nouvelle.',
    start: 'Configurer une application',
    stepOpen: 'Ouvrez votre application d’authentification, ou installez-en une.',
    stepScan: 'Ajoutez un compte en scannant cette image.',
    stepKey: 'Ajoutez un compte en saisissant cette clé.',
    stepCode: 'Saisissez le code que l’application affiche pour {app}.',
    qrAlt: 'Code QR pour votre application d’authentification',
    samePhone: 'L’application est sur cet appareil ? Ouvrez-la ici',
    cannotScan: 'Impossible de scanner l’image ?',
    secret: 'Saisissez plutôt cette clé dans l’application :',
    secretSettings: 'Type de clé : basée sur l’heure, 6 chiffres.',
    copy: 'Copier la clé',
    copied: 'Clé copiée',
    confirm: 'Confirmer',
  },
  enrolled: {
    title: 'Votre application est prête',
    lead: 'Vous pouvez désormais vous connecter à {app} avec ses codes.',
    advice:
      'Un téléphone se perd. Demandez dès maintenant des codes de secours pour pouvoir vous connecter sans le vôtre.',
    adviceAlone:
      'Un téléphone se perd. Ajoutez aussi une adresse e-mail ou un numéro de téléphone à votre compte {app} pour pouvoir vous connecter sans le vôtre.',
    backup: 'Demander des codes de secours',
    done: 'Continuer vers {app}',
  },
  backup: {
    title: 'Demandez des codes de secours',
    lead: 'Les codes de secours vous permettent de vous connecter quand vous n’avez pas d’autre moyen. Chacun ne sert qu’une fois.',
    to: 'Nous les envoyons à {to}.',
    replaces: 'Les codes reçus auparavant ne seront plus valables.',
    send: 'Envoyer mes codes',
    sentTitle: 'Codes de secours envoyés',
    sent: 'Vos nouveaux codes de secours sont en route vers {to}.',
    count: {
      one: 'Il y a {count} code, à usage unique.',
      other: 'Il y a {count} codes, chacun à usage unique.',
    },
    keep: 'Imprimez-les ou gardez-les dans un gestionnaire de mots de passe, pas seulement là où vous les avez reçus.',
  },
  codesLeft: {
    title: 'Il reste peu de codes de secours',
    left: { one: 'Il vous reste {count} code de secours.', other: 'Il vous reste {count} codes de secours.' },
    none: 'C’était votre dernier code de secours.',
    advice:
      'Demandez-en d’autres avant d’en avoir besoin : sans code, vous ne pourrez peut-être plus entrer si vous perdez vos autres moyens de confirmer.',
  },
  overview: {
    title: 'La sécurité de votre connexion',
    lead: 'Voici vos moyens de confirmer que c’est bien vous.',
    none: 'Vous n’avez pas de second moyen de confirmer que c’est vous. Configurez une application d’authentification pour protéger votre compte.',
    factors: 'Moyens de confirmer',
    method: {
      app: 'Application d’authentification',
      email: 'E-mail',
      sms: 'SMS',
      whatsapp: 'WhatsApp',
      call: 'Appel téléphonique',
      dual: 'E-mail et téléphone ensemble',
    },
    enroll: 'Configurer une application d’authentification',
    replace: 'Remplacer l’application d’authentification',
    backup: 'Demander de nouveaux codes de secours',
  },
  resume: {
    title: 'Reprendre là où vous en étiez ?',
    lead: 'Vous avez confirmé votre identité. Rien n’a encore été fait : vérifiez, puis envoyez à nouveau.',
    hidden: 'non affiché ici',
    confirm: 'Oui, continuer',
  },
  devices: {
    title: 'Appareils de confiance',
    lead: 'Ces navigateurs se connectent à {app} sans la seconde étape. Retirez votre confiance à ceux que vous ne connaissez pas.',
    none: 'Aucun navigateur n’est de confiance. Pour en ajouter un, cochez la case en confirmant une connexion.',
    name: '{browser} sur {system}',
    unknown: 'Navigateur inconnu',
    current: 'Ce navigateur',
    used: 'Dernière utilisation : {when}',
    ends: 'Prend fin {in}',
    revoke: 'Retirer la confiance',
    revokeAll: 'Retirer la confiance à tous',
  },
  notMe: {
    title: 'Ce n’était pas vous ?',
    lead: 'Si quelqu’un d’autre est entré dans votre compte {app}, mettez-y fin ici : toutes les sessions sont fermées, la vôtre aussi, et plus aucun navigateur n’est de confiance.',
    confirm: 'Ce n’était pas moi : fermer toutes les sessions',
    otherwise: 'Si c’était vous, fermez cette page. Rien n’a été changé.',
    doneTitle: 'Toutes les sessions sont fermées',
    done: 'Toutes les sessions de votre compte {app} sont fermées, et plus aucun navigateur n’est de confiance.',
    next: 'Connectez-vous maintenant et changez votre mot de passe : cette personne le connaît peut-être.',
  },
  language: 'Langue',
  stop: { 'sign-in': 'Se connecter', retry: 'Réessayer', home: 'Retour à {app}' },
  stopReady: 'Vous pouvez maintenant réessayer.',
  clockSlow:
    'Ce code date d’il y a environ {time} : l’horloge de votre téléphone semble déréglée. Réglez-la sur automatique.',
  attemptsLeft: { one: 'Il vous reste {count} essai.', other: 'Il vous reste {count} essais.' },
  success: {
    code_sent: 'Code envoyé.',
    code_sent_again: 'Code renvoyé.',
    code_queued: 'Votre code partira dans un instant.',
    device_revoked: 'Ce navigateur n’est plus de confiance.',
    devices_revoked: 'Plus aucun navigateur n’est de confiance.',
  },
  problems: {
    sign_in_required: { title: 'Connectez-vous d’abord', advice: 'Vous n’êtes pas connecté à {app}.' },
    pending_login_expired: {
      title: 'La connexion a pris trop de temps',
      advice: 'Pour votre sécurité, elle a été interrompue. Veuillez vous reconnecter.',
    },
    mfa_required: { title: 'Encore une étape', advice: 'Confirmez que c’est bien vous pour continuer.' },
    step_up_required: {
      title: 'Veuillez confirmer à nouveau',
      advice: 'Votre dernière confirmation est trop ancienne pour cela.',
    },
    enrollment_required: {
      title: 'Configurez d’abord une seconde étape',
      advice:
        'Cette partie de {app} est réservée aux comptes protégés par une seconde étape, comme une application d’authentification.',
    },
    session_ended: {
      title: 'Votre session est terminée',
      advice: 'Entre-temps, vous vous êtes déconnecté ou reconnecté. Veuillez vous connecter à nouveau.',
    },
    invalid_code: { title: 'Ce code n’est pas le bon', advice: 'Vérifiez-le et réessayez.' },
    code_expired: { title: 'Ce code a expiré', advice: 'Demandez-en un nouveau.' },
    no_challenge: { title: 'Aucun code n’a encore été envoyé', advice: 'Demandez d’abord un code.' },
    challenge_exhausted: {
      title: 'Trop de codes erronés',
      advice: 'Ce code ne fonctionne plus, même bien saisi. Recommencez avec un nouveau.',
    },
    locked: {
      title: 'Bloqué pour un moment',
      advice: 'Trop de codes erronés ont été saisis pour votre compte. Vous pourrez réessayer {in}.',
    },
    resend_too_soon: { title: 'Vous venez de demander un code', advice: 'Vous pourrez le redemander {in}.' },
    too_many_messages: {
      title: 'Trop de codes envoyés',
      advice: 'Votre compte a déjà reçu assez de messages. Vous pourrez demander un autre code {in}.',
    },
    unknown_factor: {
      title: 'Ce moyen n’est pas disponible',
      advice: 'Votre compte ne l’a plus. Choisissez-en un autre.',
    },
    factor_disabled: {
      title: 'Ce moyen est désactivé',
      advice: 'Il a échoué trop souvent et doit être configuré à nouveau. Choisissez-en un autre.',
    },
    method_off: { title: 'Ce moyen n’est pas proposé ici', advice: 'Choisissez-en un autre.' },
    contact_refused: {
      title: 'Impossible de joindre cette adresse ou ce numéro',
      advice: 'Choisissez un autre moyen de confirmer.',
    },
    delivery_failed: {
      title: 'Le code n’a pas pu être remis',
      advice:
        'L’opérateur ou le serveur de messagerie a refusé le message. Réessayez ou choisissez un autre moyen.',
    },
    contact_needed: {
      title: 'Nulle part où envoyer les codes de secours',
      advice:
        'Ajoutez d’abord une adresse e-mail ou un numéro de téléphone à votre compte {app}, puis revenez.',
    },
    invalid_request: {
      title: 'Il manquait quelque chose',
      advice: 'Remplissez le formulaire et renvoyez-le.',
    },
    cross_site: {
      title: 'Cette demande venait d’un autre site',
      advice: 'Pour votre sécurité, rien n’a été fait. Retournez sur {app} et réessayez là-bas.',
    },
    not_found: { title: 'Il n’y a rien ici', advice: 'L’adresse est peut-être ancienne ou mal saisie.' },
    unknown_link: {
      title: 'Ce lien ne fonctionne plus',
      advice:
        'Il a déjà servi ou il est trop ancien. En cas de doute, connectez-vous à {app} et changez votre mot de passe.',
    },
    unknown_device: {
      title: 'Ce navigateur n’est pas dans la liste',
      advice: 'Il a peut-être déjà été retiré.',
    },
    method_not_allowed: {
      title: 'Cela ne fonctionne pas à cette adresse',
      advice: 'Revenez en arrière et partez de la page elle-même.',
    },
    unsupported_media_type: {
      title: 'Nous n’avons pas pu lire cela',
      advice: 'Veuillez utiliser le formulaire de la page.',
    },
    body_too_large: { title: 'C’était trop long', advice: 'Saisissez seulement le code.' },
    service_unavailable: {
      title: 'Impossible de vérifier les codes pour l’instant',
      advice: 'Vous n’y êtes pour rien et aucun essai n’a été compté. Réessayez dans quelques minutes.',
    },
    delivery_unavailable: {
      title: 'Impossible d’envoyer des codes pour l’instant',
      advice:
        'Vous n’y êtes pour rien et aucun essai n’a été compté. Choisissez un autre moyen ci-dessous ou réessayez dans quelques minutes.',
    },
    service_misconfigured: {
      title: 'Impossible de vérifier les codes pour l’instant',
      advice:
        'Les responsables de {app} doivent d’abord corriger un réglage. Prévenez-les ou réessayez plus tard.',
    },
    internal_error: {
      title: 'Quelque chose s’est mal passé',
      advice: 'C’est de notre faute. Réessayez dans un instant.',
    },
  },
}
