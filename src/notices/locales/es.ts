import type { NoticeCatalogue } from '../catalogue.js'

/** Spanish. */
export const es: NoticeCatalogue = {
  subject: {
    factor_added: '{app}: nueva forma de confirmar',
    factor_removed: '{app}: se quitó una forma de confirmar',
    backup_codes_sent: '{app}: códigos de respaldo nuevos',
    backup_code_used: '{app}: se usó un código de respaldo',
    device_trusted: '{app}: un navegador es ahora de confianza',
    repeated_failures: '{app}: puede que alguien sepa tu contraseña',
    account_secured: '{app}: tu cuenta está protegida',
  },
  what: {
    factor_added: 'Se añadió una forma de confirmar que entras en {app}: {factor}.',
    factor_removed: 'Se quitó una forma de confirmar que entras en {app}: {factor}.',
    backup_codes_sent:
      'Se crearon códigos de respaldo nuevos para tu cuenta de {app}. Los anteriores ya no sirven.',
    backup_code_used:
      'Se usó un código de respaldo para entrar en tu cuenta de {app}. Ningún navegador es ya de confianza.',
    device_trusted:
      'Un navegador es de confianza desde ahora: entra en tu cuenta de {app} sin el segundo paso.',
    repeated_failures:
      'Alguien escribió la contraseña correcta de tu cuenta de {app} y después varios códigos incorrectos. Con ellos no entró.',
    account_secured:
      'Con el enlace de un mensaje nos dijeron que no fuiste tú. Se cerraron todas las sesiones de tu cuenta de {app}, y ningún navegador es ya de confianza.',
  },
  when: 'Cuándo: {value}',
  browser: 'Navegador: {value}',
  address: 'Dirección de red: {value}',
  location: 'Lugar: {value}',
  fine: 'Si fuiste tú, no tienes que hacer nada.',
  notYou:
    'Si no fuiste tú, abre esta página. Cierra todas las sesiones de tu cuenta y retira la confianza a todos los navegadores:',
  thenPassword: 'Después cambia tu contraseña.',
  notYouHere: 'Si no fuiste tú, cambia ahora tu contraseña en {app} y avisa a sus responsables.',
}
