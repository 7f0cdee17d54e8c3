import type { NoticeCatalogue } from '../catalogue.js'

/** French. */
export const fr: NoticeCatalogue = {
  subject: {
    factor_added: '{app} : un moyen de confirmer a été ajouté',
    factor_removed: '{app} : un moyen de confirmer a été retiré',
    backup_codes_sent: '{app} : nouveaux codes de secours',
    backup_code_used: '{app} : un code de secours a servi',
    device_trusted: '{app} : un navigateur est désormais de confiance',
    repeated_failures: '{app} : quelqu’un connaît peut-être votre mot de passe',
    account_secured: '{app} : votre compte a été protégé',
  },
  what: {
    factor_added: 'Un moyen de confirmer vos connexions à {app} a été ajouté : {factor}.',
    factor_removed: 'Un moyen de confirmer vos connexions à {app} a été retiré : {factor}.',
    backup_codes_sent:
      'De nouveaux codes de secours ont été créés pour votre compte {app}. Les anciens ne fonctionnent plus.',
    backup_code_used:
      'Un code de secours a servi à confirmer une connexion à votre compte {app}. Plus aucun navigateur n’est de confiance.',
    device_trusted:
      'Un navigateur est désormais de confiance : il se connecte à votre compte {app} sans la seconde étape.',
    repeated_failures:
      'Quelqu’un a saisi le bon mot de passe de votre compte {app}, puis plusieurs codes faux. Il n’est pas entré avec ceux-ci.',
    account_secured:
      'Le lien d’un message nous a appris que ce n’était pas vous. Toutes les sessions de votre compte {app} ont été fermées, et plus aucun navigateur n’est de confiance.',
  },
  when: 'Quand : {value}',
  browser: 'Navigateur : {value}',
  address: 'Adresse réseau : {value}',
  location: 'Lieu : {value}',
  fine: 'Si c’était vous, vous n’avez rien à faire.',
  notYou:
    'Si ce n’était pas vous, ouvrez cette page. Elle ferme toutes les sessions de votre compte et retire la confiance à tous les navigateurs :',
  thenPassword: 'Changez ensuite votre mot de passe.',
  notYouHere:
    'Si ce n’était pas vous, changez tout de suite votre mot de passe dans {app} et prévenez ceux qui s’en occupent.',
}
