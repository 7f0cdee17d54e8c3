import type { NoticeCatalogue } from '../catalogue.js'

/** Spanish. */
export const es: NoticeCatalogue = {
  subject: {
    factor_added: '{app}: nuevo método de inicio de sesión',
    factor_removed: '{app}: método de inicio de sesión eliminado',
    backup_codes_sent: '{app}: códigos de respaldo nuevos',
    backup_code_used: '{app}: código de respaldo usado',
    device_trusted: '{app}: nuevo navegador de confianza',
    factor_disabled: '{app}: opción de acceso desactivada',
    backup_codes_disabled: '{app}: códigos de respaldo desactivados',
    repeated_failures: '{app}: es posible que alguien conozca tu contraseña',
    account_secured: '{app}: tu cuenta está protegida',
    recovery_requested: '{app}: solicitud de recuperación de la cuenta',
    recovery_reminder: '{app}: la recuperación de la cuenta se completará pronto',
    recovery_cancelled: '{app}: recuperación de la cuenta cancelada',
    recovery_completed: '{app}: recuperación de la cuenta completada',
    account_reset: '{app}: tu cuenta se ha restablecido',
  },
  what: {
    factor_added: 'Ahora puedes confirmar tus inicios de sesión en {app} con un método nuevo: {factor}.',
    factor_removed: 'Se ha eliminado este método para confirmar tus inicios de sesión en {app}: {factor}.',
    backup_codes_sent:
      'Se han creado códigos de respaldo nuevos para tu cuenta de {app}. Los anteriores ya no sirven.',
    backup_code_used:
      'Se ha usado un código de respaldo para iniciar sesión en tu cuenta de {app}. Se han eliminado todos los navegadores de confianza.',
    device_trusted:
      'Hay un nuevo navegador de confianza. Con él se puede iniciar sesión en tu cuenta de {app} sin el segundo paso.',
    factor_disabled:
      'Se introdujeron demasiados códigos incorrectos con esta opción para confirmar tus accesos a {app}. Está desactivada hasta que se configure de nuevo: {factor}. Es posible que alguien conozca tu contraseña.',
    backup_codes_disabled:
      'Se introdujeron demasiados códigos de respaldo incorrectos en tu cuenta de {app}. Tus códigos de respaldo están desactivados hasta que pidas otros. Es posible que alguien conozca tu contraseña.',
    repeated_failures:
      'Alguien ha introducido la contraseña correcta de tu cuenta de {app} y después varios códigos incorrectos. Con esos códigos no ha podido entrar.',
    account_secured:
      'Se ha usado el enlace de un mensaje de seguridad para avisar de una actividad que no era tuya. Se han cerrado todas las sesiones de tu cuenta de {app} y se han eliminado todos los navegadores de confianza.',
    recovery_requested:
      'Alguien que ha iniciado sesión en tu cuenta de {app} dice que ya no puede usar la opción más segura y quiere configurar una nueva. Podrá sustituirla a partir del {ready}.',
    recovery_reminder:
      'La recuperación de tu cuenta de {app} sigue pendiente. A partir del {ready}, quien la solicitó podrá sustituir tu opción más segura para iniciar sesión.',
    recovery_cancelled:
      'Se ha cancelado la recuperación de tu cuenta de {app}. Tus opciones para iniciar sesión no han cambiado.',
    recovery_completed:
      'Se ha completado la recuperación de tu cuenta de {app}. Tu opción anterior ya no funciona, se han cerrado todas las sesiones y se han eliminado todos los navegadores de confianza.',
    account_reset:
      'Nuestro equipo de asistencia ha restablecido las opciones de inicio de sesión de tu cuenta de {app}. Se han cerrado todas las sesiones y se han eliminado todos los navegadores de confianza. Para iniciar sesión, introduce el código que te ha dado nuestro equipo y configura después una nueva opción.',
  },
  when: 'Fecha: {value}',
  browser: 'Navegador: {value}',
  address: 'Dirección IP: {value}',
  location: 'Lugar: {value}',
  fine: 'Si fuiste tú, no tienes que hacer nada.',
  notYou:
    'Si no fuiste tú, abre esta página. En ella puedes cerrar todas las sesiones de tu cuenta y eliminar todos los navegadores de confianza:',
  thenPassword: 'Cambia también tu contraseña.',
  notYouHere: 'Si no fuiste tú, cambia ahora tu contraseña de {app} y ponte en contacto con {app}.',
  cancel: 'Si no lo has solicitado tú, cancélalo aquí:',
  short: {
    recovery_requested:
      '{app}: alguien ha solicitado recuperar tu cuenta. Se podrá completar a partir del {ready}. ¿No has sido tú? Cancelar:',
    recovery_reminder:
      '{app}: la recuperación de tu cuenta sigue pendiente y se podrá completar a partir del {ready}. ¿No has sido tú? Cancelar:',
    recovery_cancelled: '{app}: se ha cancelado la recuperación de tu cuenta.',
    recovery_completed:
      '{app}: se ha completado la recuperación de tu cuenta. Si no has sido tú, contacta con {app} ahora.',
    account_reset:
      '{app}: nuestro equipo de asistencia ha restablecido las opciones de inicio de sesión de tu cuenta. Si no lo has pedido tú, contacta con {app} ahora.',
  },
}
