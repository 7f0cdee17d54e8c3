import type { Texts } from '../texts.js'

export const fr: Texts = {
  purposes: {
    'sign-in': 'pour vous connecter',
    'step-up': 'pour confirmer une opération',
    enrolment: 'pour configurer un moyen de connexion',
  },
  code: {
    subject: '{code} est votre code {app}',
    text: '{code} est votre code {app} {purpose}. Il expire dans {minutes}. Ne le communiquez à personne.',
    call: 'Bonjour. Voici votre code {app} {purpose} : {code}. Je répète : {code}. Ne le communiquez à personne. Au revoir.',
  },
  backup: {
    subject: 'Vos codes de secours {app}',
    text: 'Vos codes de secours {app} :\n\n{codes}\n\nChacun sert une seule fois. Gardez-les en lieu sûr et ne les communiquez pas. Les précédents ne sont plus valables.',
  },
  notices: {
    locked: {
      subject: 'Codes erronés sur votre compte {app}',
      text: "De nombreux codes erronés ont été saisis pour votre compte {app} ; il est bloqué pendant {minutes}. Si ce n'était pas vous, changez votre mot de passe : quelqu'un le connaît.",
    },
    'app-bound': {
      subject: "Application d'authentification ajoutée à {app}",
      text: "Une application d'authentification a été configurée pour votre compte {app}. Si ce n'était pas vous, changez votre mot de passe et contactez {app}.",
    },
    'backup-made': {
      subject: 'Nouveaux codes de secours {app}',
      text: "De nouveaux codes de secours ont été créés pour votre compte {app} ; les précédents ne sont plus valables. Si ce n'était pas vous, changez votre mot de passe et contactez {app}.",
    },
    'backup-used': {
      subject: 'Un code de secours {app} a été utilisé',
      text: "Un code de secours de votre compte {app} vient d'être utilisé. Si ce n'était pas vous, changez votre mot de passe et contactez {app}.",
    },
  },
}
