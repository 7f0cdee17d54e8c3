import type { NoticeCatalogue } from '../catalogue.js'

/** French. */
export const fr: NoticeCatalogue = {
  subject: {
    factor_added: '{app} : nouvelle méthode de connexion',
    factor_removed: '{app} : méthode de connexion supprimée',
    backup_codes_sent: '{app} : nouveaux codes de secours',
    backup_code_used: '{app} : code de secours utilisé',
    device_trusted: '{app} : nouveau navigateur de confiance',
    factor_disabled: '{app} : méthode de connexion désactivée',
    backup_codes_disabled: '{app} : codes de secours désactivés',
    repeated_failures: '{app} : quelqu’un connaît peut-être votre mot de passe',
    account_secured: '{app} : votre compte a été sécurisé',
    recovery_requested: '{app} : récupération de compte demandée',
    recovery_reminder: '{app} : la récupération du compte sera bientôt possible',
    recovery_cancelled: '{app} : récupération de compte annulée',
    recovery_completed: '{app} : récupération de compte terminée',
    account_reset: '{app} : votre compte a été réinitialisé',
  },
  what: {
    factor_added:
      'Vous pouvez désormais confirmer vos connexions à {app} avec une nouvelle méthode : {factor}.',
    factor_removed: 'Cette méthode de confirmation de vos connexions à {app} a été supprimée : {factor}.',
    backup_codes_sent:
      'De nouveaux codes de secours ont été créés pour votre compte {app}. Les anciens ne sont plus valables.',
    backup_code_used:
      'Un code de secours a été utilisé pour se connecter à votre compte {app}. Tous les navigateurs de confiance ont été supprimés.',
    device_trusted:
      'Un nouveau navigateur est de confiance. Il permet de se connecter à votre compte {app} sans la seconde étape.',
    factor_disabled:
      'Trop de codes erronés ont été saisis avec cette méthode de confirmation de vos connexions à {app}. Elle est désactivée jusqu’à ce qu’elle soit configurée à nouveau : {factor}. Quelqu’un connaît peut-être votre mot de passe.',
    backup_codes_disabled:
      'Trop de codes de secours erronés ont été saisis pour votre compte {app}. Vos codes de secours sont désactivés jusqu’à ce que vous en demandiez de nouveaux. Quelqu’un connaît peut-être votre mot de passe.',
    repeated_failures:
      'Quelqu’un a saisi le bon mot de passe de votre compte {app}, puis plusieurs codes incorrects. Ces codes ne lui ont pas permis de se connecter.',
    account_secured:
      'Le lien d’un message de sécurité a été utilisé pour signaler une activité qui n’était pas la vôtre. Toutes les sessions de votre compte {app} ont été fermées et tous les navigateurs de confiance ont été supprimés.',
    recovery_requested:
      'Une personne connectée à votre compte {app} indique ne plus pouvoir utiliser l’option de connexion la plus sûre et souhaite en configurer une nouvelle. Elle pourra la remplacer à partir du {ready}.',
    recovery_reminder:
      'La récupération de votre compte {app} est toujours en attente. À partir du {ready}, la personne qui l’a demandée pourra remplacer votre option de connexion la plus sûre.',
    recovery_cancelled:
      'La récupération de votre compte {app} a été annulée. Vos options de connexion n’ont pas changé.',
    recovery_completed:
      'La récupération de votre compte {app} est terminée. Votre ancienne option de connexion ne fonctionne plus, toutes les sessions ont été fermées et tous les navigateurs de confiance ont été supprimés.',
    account_reset:
      'Notre assistance a réinitialisé les options de connexion de votre compte {app}. Toutes les sessions ont été fermées et tous les navigateurs de confiance supprimés. Pour vous connecter, saisissez le code que notre assistance vous a donné, puis configurez une nouvelle option.',
  },
  when: 'Date : {value}',
  browser: 'Navigateur : {value}',
  address: 'Adresse IP : {value}',
  location: 'Lieu : {value}',
  fine: 'Si c’était vous, vous n’avez rien à faire.',
  notYou:
    'Si ce n’était pas vous, ouvrez cette page. Vous pourrez y fermer toutes les sessions de votre compte et supprimer tous les navigateurs de confiance :',
  thenPassword: 'Veuillez également changer votre mot de passe.',
  notYouHere: 'Si ce n’était pas vous, changez dès maintenant votre mot de passe {app} et contactez {app}.',
  cancel: 'Si vous n’avez pas fait cette demande, annulez-la ici :',
  short: {
    recovery_requested:
      '{app} : quelqu’un a demandé la récupération de votre compte, possible à partir du {ready}. Ce n’est pas vous ? Annuler :',
    recovery_reminder:
      '{app} : la récupération de votre compte est toujours en attente et sera possible à partir du {ready}. Ce n’est pas vous ? Annuler :',
    recovery_cancelled: '{app} : la récupération de votre compte a été annulée.',
    recovery_completed:
      '{app} : la récupération de votre compte est terminée. Si ce n’est pas vous, contactez {app} immédiatement.',
    account_reset:
      '{app} : notre assistance a réinitialisé les options de connexion de votre compte. Si vous ne l’avez pas demandé, contactez {app} immédiatement.',
  },
}
