import type { Texts } from '../texts.js'

export const pt: Texts = {
  purposes: {
    'sign-in': 'para entrar',
    'step-up': 'para confirmar uma operação',
    enrolment: 'para configurar um método de acesso',
  },
  code: {
    subject: '{code} é o seu código {app}',
    text: '{code} é o seu código {app} {purpose}. Expira em {minutes}. Não o partilhe com ninguém.',
    call: 'Olá. Este é o seu código {app} {purpose}: {code}. Mais uma vez: {code}. Não o partilhe com ninguém. Adeus.',
  },
  backup: {
    subject: 'Os seus códigos de reserva {app}',
    text: 'Os seus códigos de reserva {app}:\n\n{codes}\n\nCada um serve uma vez. Guarde-os bem e não os partilhe. Os anteriores deixaram de funcionar.',
  },
  notices: {
    locked: {
      subject: 'Códigos errados na sua conta {app}',
      text: 'Alguém digitou muitos códigos errados na sua conta {app}; ela fica bloqueada durante {minutes}. Se não foi você, mude a sua senha: alguém a conhece.',
    },
    'app-bound': {
      subject: 'Aplicação de autenticação adicionada a {app}',
      text: 'Foi configurada uma aplicação de autenticação na sua conta {app}. Se não foi você, mude a sua senha e contacte {app}.',
    },
    'backup-made': {
      subject: 'Novos códigos de reserva {app}',
      text: 'Foram criados novos códigos de reserva para a sua conta {app}; os anteriores deixaram de funcionar. Se não foi você, mude a sua senha e contacte {app}.',
    },
    'backup-used': {
      subject: 'Um código de reserva {app} foi usado',
      text: 'Um código de reserva da sua conta {app} acabou de ser usado. Se não foi você, mude a sua senha e contacte {app}.',
    },
  },
}
