import type { MessageTexts } from '../message-texts.js'

export const es: MessageTexts = {
  purposes: {
    'sign-in': 'para iniciar sesión',
    'step-up': 'para confirmar una operación',
    enrollment: 'para configurar un método de acceso',
  },
  code: {
    subject: '{code} es tu código de {app}',
    text: '{code} es tu código de {app} {purpose}. Caduca en {minutes}. No lo compartas con nadie.',
    call: 'Hola. Tu código de {app} {purpose} es: {code}. Repito: {code}. No lo compartas con nadie. Adiós.',
  },
  backup: {
    subject: 'Tus códigos de respaldo de {app}',
    text: 'Tus códigos de respaldo de {app}:\n\n{codes}\n\nCada código se puede usar una sola vez. Guárdalos en un lugar seguro y no los compartas. Los códigos anteriores ya no funcionan.',
  },
  notices: {
    locked: {
      subject: 'Códigos incorrectos en tu cuenta de {app}',
      text: 'Se han introducido demasiados códigos incorrectos en tu cuenta de {app}, por lo que está bloqueada durante {minutes}. Si no has sido tú, cambia tu contraseña: es posible que otra persona la conozca.',
    },
    'app-bound': {
      subject: 'Aplicación de autenticación añadida a tu cuenta de {app}',
      text: 'Se ha configurado una aplicación de autenticación para tu cuenta de {app}. Si no has sido tú, cambia tu contraseña y ponte en contacto con {app}.',
    },
    'backup-made': {
      subject: 'Nuevos códigos de respaldo de {app}',
      text: 'Se han creado nuevos códigos de respaldo para tu cuenta de {app}. Los códigos anteriores ya no funcionan. Si no has sido tú, cambia tu contraseña y ponte en contacto con {app}.',
    },
    'backup-used': {
      subject: 'Se ha usado un código de respaldo de {app}',
      text: 'Se acaba de usar un código de respaldo de tu cuenta de {app}. Si no has sido tú, cambia tu contraseña y ponte en contacto con {app}.',
    },
  },
}
