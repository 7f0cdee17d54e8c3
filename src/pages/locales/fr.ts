import type { Catalogue } from './catalogue.js'

/** French. */
export const fr: Catalogue = {
  dir: 'ltr',
  documentTitle: '{page} – {app}',
  documentTitleError: 'Erreur : {page} – {app}',
  later: 'plus tard',
  grace: 'Veuillez configurer la validation en deux étapes avant le {date}.',
  choose: {
    title: 'Confirmez votre identité',
    lead: {
      'sign-in': 'Encore une étape pour vous connecter à {app}. Choisissez une méthode.',
      'step-up': 'Cette action nécessite une nouvelle confirmation. Choisissez une méthode.',
      manage: 'Confirmez votre identité avant de modifier ces paramètres. Choisissez une méthode.',
    },
    act: {
      app: 'Utiliser votre application d’authentification',
      email: 'Envoyer un code par e-mail à {to}',
      sms: 'Envoyer un code par SMS au {to}',
      whatsapp: 'Envoyer un code par WhatsApp au {to}',
      call: 'Appeler le {to}',
      dual: 'Envoyer un même code par e-mail et par SMS : {to}',
    },
    backup: 'Utiliser un code de secours',
    backupHint: 'L’un des codes que vous avez enregistrés',
    backupMaybe: 'Avez-vous un code de secours ?',
    emailHint: 'La méthode la moins sûre : elle dépend de la sécurité de votre messagerie',
    phoneHint: 'Moins sûr qu’une application d’authentification',
    none: 'Votre compte n’a encore aucune méthode de validation. Veuillez contacter {app}.',
  },
  code: {
    title: {
      app: 'Saisissez le code de votre application',
      email: 'Consultez vos e-mails',
      sms: 'Consultez vos SMS',
      whatsapp: 'Consultez WhatsApp',
      call: 'Répondez au téléphone',
      dual: 'Consultez vos e-mails et vos SMS',
      backup: 'Saisissez un code de secours',
    },
    titleFirst: 'Demandez votre code',
    titleNew: 'Demandez un nouveau code',
    sent: {
      email: 'Nous avons envoyé un code de validation par e-mail à {to}.',
      sms: 'Nous avons envoyé un code de validation par SMS au {to}.',
      whatsapp: 'Nous avons envoyé un code de validation par WhatsApp au {to}.',
      call: 'Nous appelons le {to} pour vous dicter un code de validation.',
      dual: 'Nous avons envoyé le même code de validation par e-mail et par SMS : {to}.',
    },
    queued: 'Votre code de validation pour {to} est en attente d’envoi. Cela peut prendre une minute.',
    refused: 'Votre code de validation n’a pas pu être remis : {to}. Essayez une autre méthode ci-dessous.',
    from: {
      app: 'Ouvrez votre application d’authentification et saisissez le code qu’elle affiche pour {app}.',
      backup:
        'Saisissez l’un des codes que vous avez enregistrés. Chaque code ne peut être utilisé qu’une fois.',
    },
    label: 'Code de validation',
    labelBackup: 'Code de secours',
    submit: 'Continuer',
    trust: 'Ne plus demander dans ce navigateur pendant {time}',
    trustHint: 'Uniquement sur un appareil qui vous appartient.',
    expires: 'Le code expire {in}.',
    expired: 'Le code a expiré. Demandez-en un nouveau.',
    again: 'Renvoyer le code',
    callAgain: 'Rappeler',
    restart: 'Réessayer avec un nouveau code',
    againWait: 'Vous pourrez redemander le code {in}.',
    againReady: 'Vous pouvez maintenant redemander le code.',
    trouble: {
      app: 'Vous ne pouvez pas utiliser l’application ?',
      email: 'Vous n’avez pas reçu le code ?',
      sms: 'Vous n’avez pas reçu le code ?',
      whatsapp: 'Vous n’avez pas reçu le code ?',
      call: 'Vous n’avez pas reçu l’appel ?',
      dual: 'Vous n’avez pas reçu le code ?',
      backup: 'Vous n’avez pas de code de secours ?',
    },
    tip: {
      app: 'Si vos codes sont refusés, réglez l’heure de votre téléphone sur automatique. Les codes dépendent de l’heure.',
      email: 'Un e-mail peut mettre une minute à arriver. Vérifiez aussi le dossier des indésirables.',
      sms: 'Un SMS peut mettre une minute à arriver. Vérifiez que votre téléphone capte le réseau.',
      whatsapp: 'Vérifiez que votre téléphone est connecté et que WhatsApp peut recevoir des messages.',
      call: 'Vérifiez que votre téléphone capte le réseau et ne bloque pas les numéros inconnus.',
      dual: 'Les messages peuvent mettre une minute à arriver. Vérifiez aussi le dossier des indésirables. Les deux messages contiennent le même code.',
      backup:
        'Nous vous avons envoyé vos codes de secours quand vous les avez demandés. Un code déjà utilisé n’est plus valable.',
    },
    otherFactors: 'Essayer une autre méthode',
    allFactors: 'Voir toutes les méthodes',
  },
  leave: {
    ends: 'Pour votre sécurité, cette connexion expire {in}.',
    cancel: 'Annuler et utiliser un autre compte',
    notNow: 'Pas maintenant',
    back: 'Retour à {app}',
  },
  enroll: {
    title: 'Configurez une application d’authentification',
    lead: 'Une application sur votre téléphone génère les codes de connexion. Elle fonctionne sans réseau et elle est plus sûre que les SMS.',
    replaces:
      'Elle remplace l’application que vous utilisez actuellement. L’ancienne reste valable jusqu’à la confirmation de la nouvelle.',
    start: 'Configurer une application',
    over: {
      exhausted: {
        title: 'Trop de codes incorrects',
        advice:
          'Ce code QR ne fonctionne plus, même avec un code correct. Supprimez le compte de votre application et recommencez avec un nouveau.',
      },
      expired: {
        title: 'Le délai est écoulé',
        advice: 'Ce code QR était valable 15 minutes et ne fonctionne plus. Recommencez avec un nouveau.',
      },
    },
    restart: 'Recommencer',
    hidden:
      'Le code QR ne s’affiche que dans le navigateur où vous avez commencé. Si vous ne l’avez plus, recommencez.',
    stepOpen: 'Ouvrez votre application d’authentification ou installez-en une.',
    stepScan: 'Scannez ce code QR pour ajouter un compte.',
    stepKey: 'Saisissez cette clé pour ajouter un compte.',
    stepCode: 'Saisissez le code que l’application affiche pour {app}.',
    qrAlt: 'Code QR pour votre application d’authentification',
    samePhone: 'L’application est sur cet appareil ? Ouvrez-la ici',
    cannotScan: 'Impossible de scanner le code QR ?',
    secret: 'Saisissez plutôt cette clé dans l’application :',
    secretSettings: 'Type de clé : basée sur l’heure, 6 chiffres.',
    copy: 'Copier la clé',
    copied: 'Clé copiée',
    confirm: 'Confirmer',
  },
  enrolled: {
    title: 'Votre application est prête',
    lead: 'Vous pouvez désormais vous connecter à {app} avec les codes de votre application.',
    advice:
      'Demandez dès maintenant des codes de secours pour pouvoir vous connecter même si vous perdez votre téléphone.',
    adviceAlone:
      'Ajoutez aussi une adresse e-mail ou un numéro de téléphone à votre compte {app} pour pouvoir vous connecter même si vous perdez votre téléphone.',
    backup: 'Demander des codes de secours',
    done: 'Continuer vers {app}',
  },
  backup: {
    title: 'Demandez des codes de secours',
    lead: 'Les codes de secours vous permettent de vous connecter quand vous ne pouvez pas utiliser vos autres méthodes. Chaque code ne peut être utilisé qu’une fois.',
    to: 'Nous les enverrons à cette destination : {to}.',
    replaces: 'Les codes de secours reçus auparavant ne seront plus valables.',
    send: 'Envoyer mes codes',
    sentTitle: 'Codes de secours envoyés',
    sent: 'Vos nouveaux codes de secours ont été envoyés : {to}.',
    count: {
      one: 'Il y a {count} code, utilisable une seule fois.',
      other: 'Il y a {count} codes. Chacun est utilisable une seule fois.',
    },
    keep: 'Imprimez-les ou enregistrez-les dans un gestionnaire de mots de passe. Ne les gardez pas uniquement là où vous les avez reçus.',
  },
  codesLeft: {
    title: 'Il reste peu de codes de secours',
    used: 'Code de secours utilisé',
    left: { one: 'Il vous reste {count} code de secours.', other: 'Il vous reste {count} codes de secours.' },
    none: 'C’était votre dernier code de secours.',
    zero: 'Vous n’avez pas de codes de secours.',
    advice:
      'Demandez-en de nouveaux avant d’en avoir besoin. Sans code de secours, vous risquez de perdre l’accès à votre compte si vous ne pouvez plus utiliser vos autres méthodes.',
  },
  overview: {
    title: 'Sécurité de votre connexion',
    lead: 'Vous pouvez utiliser ces méthodes pour confirmer votre identité lors de la connexion.',
    none: 'Vous n’utilisez pas encore la validation en deux étapes. Configurez une application d’authentification pour protéger votre compte.',
    factors: 'Méthodes de validation',
    method: {
      app: 'Application d’authentification',
      email: 'E-mail',
      sms: 'SMS',
      whatsapp: 'WhatsApp',
      call: 'Appel téléphonique',
      dual: 'E-mail et SMS',
    },
    enroll: 'Configurer une application d’authentification',
    replace: 'Remplacer l’application d’authentification',
    backup: 'Demander de nouveaux codes de secours',
    change: 'Modifier',
    add: 'Ajouter un numéro de téléphone ou une adresse e-mail',
  },
  resume: {
    title: 'Vérifiez et confirmez',
    lead: 'Rien n’a encore été envoyé. Vérifiez votre saisie, puis confirmez.',
    hidden: 'non affiché ici',
    confirm: 'Confirmer',
  },
  devices: {
    title: 'Appareils de confiance',
    lead: 'Dans ces navigateurs, vous pouvez vous connecter à {app} sans la seconde étape. Supprimez ceux que vous ne reconnaissez pas.',
    none: 'Vous n’avez aucun navigateur de confiance. Pour en ajouter un, cochez la case lorsque vous confirmez une connexion.',
    name: '{browser} sur {system}',
    unknown: 'Navigateur inconnu',
    current: 'Ce navigateur',
    used: 'Dernière utilisation : {when}',
    ends: 'Expire {in}',
    revoke: 'Supprimer',
    revokeAll: 'Tout supprimer',
  },
  notMe: {
    title: 'Sécurisez votre compte',
    lead: 'Si quelqu’un d’autre a utilisé votre compte {app}, bloquez-le ici. Toutes les sessions seront fermées, y compris la vôtre, et tous les navigateurs de confiance seront supprimés.',
    confirm: 'Ce n’était pas moi : fermer toutes les sessions',
    otherwise: 'Si c’était vous, fermez cette page. Rien n’a été modifié.',
    doneTitle: 'Toutes les sessions sont fermées',
    done: 'Toutes les sessions de votre compte {app} sont fermées et tous les navigateurs de confiance ont été supprimés.',
    next: 'Connectez-vous maintenant et changez votre mot de passe. Quelqu’un d’autre le connaît peut-être.',
  },
  recovery: {
    link: 'Vous n’avez plus accès à votre application ou à votre téléphone ?',
    title: 'Récupérer votre compte',
    lead: 'Si vous ne pouvez plus utiliser votre option de connexion la plus sûre, vous pourrez en configurer une nouvelle après un délai d’attente de {time}.',
    notify:
      'Nous prévenons tous ces contacts maintenant, puis à la moitié du délai. Chaque message permet d’annuler la récupération :',
    ends: 'À la fin du délai, reconnectez-vous comme aujourd’hui. Votre ancienne option cessera alors de fonctionner, les autres sessions seront fermées et tous les navigateurs de confiance supprimés.',
    request: 'Demander la récupération',
    impossible:
      'Pour récupérer votre compte ici, il vous faut un autre moyen de confirmer votre identité, et votre compte n’en a aucun. Veuillez contacter {app}.',
    waitingTitle: 'Votre récupération est en attente',
    waiting:
      'Vous pourrez configurer une nouvelle option de connexion {in}. Reconnectez-vous à ce moment-là.',
    notified: 'Nous avons prévenu ces contacts :',
    stop: 'Si vous vous connectez entre-temps avec votre ancienne option, la récupération est annulée.',
    readyTitle: 'Votre récupération est prête',
    ready:
      'Configurez maintenant une nouvelle option de connexion. L’ancienne cessera de fonctionner, les autres sessions seront fermées et tous les navigateurs de confiance supprimés.',
    complete: 'Configurer une nouvelle option',
    cancel: 'Annuler la récupération',
    cancelTitle: 'Annuler la récupération du compte ?',
    cancelLead:
      'Une personne qui connaît votre mot de passe {app} a demandé à remplacer votre option de connexion la plus sûre. Si ce n’est pas vous, annulez ici.',
    cancelledTitle: 'La récupération est annulée',
    cancelled: 'Votre compte {app} conserve ses options de connexion.',
    cancelledNext:
      'Si vous n’avez pas demandé la récupération, changez votre mot de passe maintenant. Quelqu’un d’autre le connaît peut-être.',
  },
  bypass: {
    title: 'Saisissez le code de l’assistance',
    lead: 'Notre assistance a réinitialisé vos options de connexion. Saisissez le code qu’elle vous a donné. Il fonctionne une seule fois, pendant une heure. Configurez ensuite une nouvelle option.',
    label: 'Code de l’assistance',
  },
  language: 'Langue',
  stop: { 'sign-in': 'Se connecter', retry: 'Réessayer', home: 'Retour à {app}' },
  stopReady: 'Vous pouvez maintenant réessayer.',
  clockSlow:
    'Ce code date d’il y a environ {time}. L’horloge de votre téléphone semble incorrecte. Réglez-la sur automatique.',
  attemptsLeft: { one: 'Il vous reste {count} tentative.', other: 'Il vous reste {count} tentatives.' },
  success: {
    code_sent: 'Code envoyé.',
    code_sent_again: 'Code renvoyé.',
    code_queued: 'Votre code sera envoyé dans un instant.',
    device_revoked: 'Ce navigateur n’est plus un navigateur de confiance.',
    devices_revoked: 'Tous les navigateurs de confiance ont été supprimés.',
  },
  problems: {
    sign_in_required: {
      title: 'Veuillez d’abord vous connecter',
      advice: 'Vous n’êtes pas connecté à {app}.',
    },
    pending_login_expired: {
      title: 'La connexion a pris trop de temps',
      advice: 'Elle a été interrompue pour votre sécurité. Veuillez vous reconnecter.',
    },
    mfa_required: { title: 'Encore une étape', advice: 'Veuillez confirmer votre identité pour continuer.' },
    step_up_required: {
      title: 'Veuillez confirmer à nouveau',
      advice: 'Votre dernière confirmation est trop ancienne pour cette action.',
    },
    enrollment_required: {
      title: 'Configurez d’abord la validation en deux étapes',
      advice:
        'Cette partie de {app} est réservée aux comptes protégés par la validation en deux étapes, par exemple avec une application d’authentification.',
    },
    session_ended: {
      title: 'Votre session est terminée',
      advice: 'Entre-temps, vous vous êtes déconnecté ou reconnecté. Veuillez vous connecter à nouveau.',
    },
    invalid_code: { title: 'Code incorrect', advice: 'Vérifiez le code et réessayez.' },
    code_expired: { title: 'Le code a expiré', advice: 'Demandez-en un nouveau.' },
    no_challenge: { title: 'Aucun code n’a encore été envoyé', advice: 'Demandez d’abord un code.' },
    challenge_exhausted: {
      title: 'Trop de codes incorrects',
      advice:
        'Ce code n’est plus valable, même si vous le saisissez correctement. Recommencez avec un nouveau code.',
    },
    locked: {
      title: 'Temporairement bloqué',
      advice: 'Trop de codes incorrects ont été saisis pour votre compte. Vous pourrez réessayer {in}.',
    },
    resend_too_soon: { title: 'Vous venez de demander un code', advice: 'Vous pourrez le redemander {in}.' },
    too_many_messages: {
      title: 'Trop de codes envoyés',
      advice: 'Votre compte a atteint sa limite de messages. Vous pourrez demander un autre code {in}.',
    },
    unknown_factor: {
      title: 'Cette méthode n’est pas disponible',
      advice: 'Elle n’est plus associée à votre compte. Veuillez choisir une autre méthode.',
    },
    factor_disabled: {
      title: 'Cette méthode est désactivée',
      advice:
        'Elle a échoué trop souvent et doit être configurée à nouveau. Veuillez choisir une autre méthode.',
    },
    method_off: {
      title: 'Cette méthode n’est pas proposée ici',
      advice: 'Veuillez choisir une autre méthode.',
    },
    contact_refused: {
      title: 'Impossible de joindre cette adresse ou ce numéro',
      advice: 'Veuillez choisir une autre méthode.',
    },
    delivery_failed: {
      title: 'Le code n’a pas pu être remis',
      advice:
        'L’opérateur ou le fournisseur de messagerie a refusé le message. Réessayez ou choisissez une autre méthode.',
    },
    contact_needed: {
      title: 'Aucun contact pour les codes de secours',
      advice:
        'Ajoutez d’abord une adresse e-mail ou un numéro de téléphone à votre compte {app}, puis revenez.',
    },
    recovery_not_needed: {
      title: 'Vous n’avez pas besoin de récupération',
      advice:
        'Vous venez de confirmer votre identité avec votre option la plus sûre, ou vous n’en avez pas de plus sûre. Vous pouvez modifier vos options directement.',
    },
    no_recovery: {
      title: 'Aucune récupération en attente',
      advice: 'Elle a été annulée, terminée ou a expiré. Vous pouvez en demander une nouvelle.',
    },
    recovery_waiting: {
      title: 'Veuillez patienter encore un peu',
      advice: 'Vous pourrez configurer une nouvelle option de connexion {in}.',
    },
    bypass_code_required: {
      title: 'Saisissez le code de l’assistance',
      advice:
        'Vos options de connexion ont été réinitialisées. Seul le code de notre assistance fonctionne maintenant.',
    },
    recovery_not_notified: {
      title: 'Impossible de lancer une récupération pour le moment',
      advice:
        'Nous n’avons pu joindre aucun de vos contacts, donc rien n’a été lancé. Veuillez réessayer plus tard.',
    },
    invalid_request: {
      title: 'Il manque une information',
      advice: 'Veuillez remplir le formulaire et l’envoyer à nouveau.',
    },
    cross_site: {
      title: 'Cette demande provient d’un autre site',
      advice: 'Pour votre sécurité, rien n’a été effectué. Retournez sur {app} et réessayez depuis ce site.',
    },
    not_found: { title: 'Page introuvable', advice: 'L’adresse est peut-être obsolète ou mal saisie.' },
    unknown_link: {
      title: 'Ce lien n’est plus valable',
      advice:
        'Il a déjà été utilisé ou il a expiré. En cas de doute, connectez-vous à {app} et changez votre mot de passe.',
    },
    unknown_device: {
      title: 'Ce navigateur n’est pas dans la liste',
      advice: 'Il a peut-être déjà été supprimé.',
    },
    method_not_allowed: {
      title: 'Cette adresse ne peut pas être ouverte directement',
      advice: 'Veuillez revenir en arrière et utiliser le formulaire de la page.',
    },
    unsupported_media_type: {
      title: 'Impossible de lire le formulaire',
      advice: 'Veuillez utiliser le formulaire de la page.',
    },
    body_too_large: { title: 'La saisie était trop longue', advice: 'Veuillez saisir uniquement le code.' },
    service_unavailable: {
      title: 'Impossible de vérifier les codes pour l’instant',
      advice:
        'Vous n’y êtes pour rien et aucune tentative n’a été comptée. Veuillez réessayer dans quelques minutes.',
    },
    delivery_unavailable: {
      title: 'Impossible d’envoyer des codes pour l’instant',
      advice:
        'Vous n’y êtes pour rien et aucune tentative n’a été comptée. Choisissez une autre méthode ci-dessous ou réessayez dans quelques minutes.',
    },
    service_misconfigured: {
      title: 'Impossible de vérifier les codes pour l’instant',
      advice:
        'Un problème doit d’abord être corrigé du côté de {app}. Veuillez le signaler ou réessayer plus tard.',
    },
    internal_error: {
      title: 'Une erreur s’est produite',
      advice: 'C’est de notre faute. Veuillez réessayer dans un instant.',
    },
  },
}
