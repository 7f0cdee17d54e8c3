import type { MessageTexts } from '../message-texts.js'

export const pt: MessageTexts = {
  purposes: {
    'sign-in': 'para fazer login',
    'step-up': 'para confirmar uma operação',
    enrollment: 'para configurar um método de login',
  },
  code: {
    subject: '{code} é o seu código de {app}',
    text: '{code} é o seu código de {app} {purpose}. Ele expira em {minutes}. Não o compartilhe com ninguém.',
    call: 'Olá. O seu código de {app} {purpose} é: {code}. Repetindo: {code}. Não o compartilhe com ninguém. Até logo.',
  },
  backup: {
    subject: 'Seus códigos de reserva de {app}',
    text: 'Seus códigos de reserva de {app}:\n\n{codes}\n\nCada código só pode ser usado uma vez. Guarde-os em um lugar seguro e não os compartilhe. Os códigos anteriores não funcionam mais.',
  },
  notices: {
    locked: {
      subject: 'Códigos incorretos na sua conta de {app}',
      text: 'Foram digitados códigos incorretos demais na sua conta de {app}, por isso ela ficará bloqueada por {minutes}. Se não foi você, mude sua senha: outra pessoa pode saber qual é.',
    },
    'app-bound': {
      subject: 'Aplicativo autenticador adicionado à sua conta de {app}',
      text: 'Um aplicativo autenticador foi configurado para a sua conta de {app}. Se não foi você, mude sua senha e entre em contato com {app}.',
    },
    'backup-made': {
      subject: 'Novos códigos de reserva de {app}',
      text: 'Novos códigos de reserva foram criados para a sua conta de {app}. Os códigos anteriores não funcionam mais. Se não foi você, mude sua senha e entre em contato com {app}.',
    },
    'backup-used': {
      subject: 'Um código de reserva de {app} foi usado',
      text: 'Um código de reserva da sua conta de {app} acabou de ser usado. Se não foi você, mude sua senha e entre em contato com {app}.',
    },
  },
}
