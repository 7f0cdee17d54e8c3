import type { MessageTexts } from '../message-texts.js'

export const fr: MessageTexts = {
  purposes: {
    'sign-in': 'pour vous connecter',
    'step-up': 'pour confirmer une opération',
    enrollment: 'pour configurer une méthode de connexion',
  },
  code: {
    subject: '{code} est votre code {app}',
    text: '{code} est votre code {app} {purpose}. Il expire dans {minutes}. Ne le communiquez à personne.',
    call: 'Bonjour. Votre code {app} {purpose} est : {code}. Je répète : {code}. Ne le communiquez à personne. Au revoir.',
  },
  backup: {
    subject: 'Vos codes de secours {app}',
    text: 'Vos codes de secours {app} :\n\n{codes}\n\nChaque code ne peut être utilisé qu’une seule fois. Conservez-les en lieu sûr et ne les communiquez à personne. Les codes précédents ne fonctionnent plus.',
  },
  notices: {
    locked: {
      subject: 'Codes incorrects sur votre compte {app}',
      text: 'Trop de codes incorrects ont été saisis pour votre compte {app} ; il est bloqué pendant {minutes}. Si ce n’était pas vous, changez votre mot de passe : une autre personne le connaît peut-être.',
    },
    'app-bound': {
      subject: 'Application d’authentification ajoutée à votre compte {app}',
      text: 'Une application d’authentification a été configurée pour votre compte {app}. Si ce n’était pas vous, changez votre mot de passe et contactez {app}.',
    },
    'backup-made': {
      subject: 'Nouveaux codes de secours {app}',
      text: 'De nouveaux codes de secours ont été créés pour votre compte {app} ; les codes précédents ne fonctionnent plus. Si ce n’était pas vous, changez votre mot de passe et contactez {app}.',
    },
    'backup-used': {
      subject: 'Un code de secours {app} a été utilisé',
      text: 'Un code de secours de votre compte {app} vient d’être utilisé. Si ce n’était pas vous, changez votre mot de passe et contactez {app}.',
    },
  },
}
