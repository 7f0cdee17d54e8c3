import type { Texts } from '../texts.js'

export const es: Texts = {
  purposes: {
    'sign-in': 'para iniciar sesión',
    'step-up': 'para confirmar una operación',
    enrolment: 'para configurar un método de acceso',
  },
  code: {
    subject: '{code} es tu código de {app}',
    text: '{code} es tu código de {app} {purpose}. Caduca en {minutes}. No lo compartas con nadie.',
    call: 'Hola. Este es tu código de {app} {purpose}: {code}. Otra vez: {code}. No lo compartas con nadie. Adiós.',
  },
  backup: {
    subject: 'Tus códigos de respaldo de {app}',
    text: 'Tus códigos de respaldo de {app}:\n\n{codes}\n\nCada uno sirve una vez. Guárdalos bien y no los compartas. Los anteriores ya no valen.',
  },
  notices: {
    locked: {
      subject: 'Códigos incorrectos en tu cuenta de {app}',
      text: 'Alguien escribió muchos códigos incorrectos en tu cuenta de {app}; queda bloqueada durante {minutes}. Si no fuiste tú, cambia tu contraseña: alguien la conoce.',
    },
    'app-bound': {
      subject: 'Aplicación de autenticación añadida a {app}',
      text: 'Se configuró una aplicación de autenticación para tu cuenta de {app}. Si no fuiste tú, cambia tu contraseña y contacta con {app}.',
    },
    'backup-made': {
      subject: 'Nuevos códigos de respaldo de {app}',
      text: 'Se crearon nuevos códigos de respaldo para tu cuenta de {app}; los anteriores ya no valen. Si no fuiste tú, cambia tu contraseña y contacta con {app}.',
    },
    'backup-used': {
      subject: 'Se usó un código de respaldo de {app}',
      text: 'Se acaba de usar un código de respaldo de tu cuenta de {app}. Si no fuiste tú, cambia tu contraseña y contacta con {app}.',
    },
  },
}
