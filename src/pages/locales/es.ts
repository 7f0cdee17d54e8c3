import type { Catalogue } from './catalogue.js'

/** Spanish. */
export const es: Catalogue = {
  dir: 'ltr',
  documentTitle: '{page} – {app}',
  documentTitleError: 'Error: {page} – {app}',
  later: 'más tarde',
  grace: 'Configura la verificación en dos pasos antes del {date}.',
  choose: {
    title: 'Confirma que eres tú',
    lead: {
      'sign-in': 'Un paso más para iniciar sesión en {app}. Elige cómo quieres confirmar que eres tú.',
      'step-up': 'Esta acción requiere una nueva confirmación. Elige cómo quieres confirmar que eres tú.',
      manage: 'Antes de cambiar esta configuración, elige cómo quieres confirmar que eres tú.',
    },
    act: {
      app: 'Usar tu aplicación de autenticación',
      email: 'Enviar un código por correo a {to}',
      sms: 'Enviar un código por SMS al {to}',
      whatsapp: 'Enviar un código por WhatsApp al {to}',
      call: 'Llamar al {to}',
      dual: 'Enviar el mismo código por correo y SMS a {to}',
    },
    backup: 'Usar un código de respaldo',
    backupHint: 'Uno de los códigos que guardaste',
    backupMaybe: '¿Tienes un código de respaldo?',
    emailHint: 'La opción menos segura: depende de la seguridad de tu correo',
    phoneHint: 'Menos segura que una aplicación de autenticación',
    none: 'Tu cuenta todavía no tiene ningún método de verificación. Ponte en contacto con {app}.',
  },
  code: {
    title: {
      app: 'Introduce el código de tu aplicación',
      email: 'Revisa tu correo',
      sms: 'Revisa tus mensajes de texto',
      whatsapp: 'Revisa WhatsApp',
      call: 'Contesta la llamada',
      dual: 'Revisa tu correo y tus SMS',
      backup: 'Introduce un código de respaldo',
    },
    titleFirst: 'Solicita tu código',
    titleNew: 'Solicita un código nuevo',
    sent: {
      email: 'Hemos enviado un código de verificación por correo a {to}.',
      sms: 'Hemos enviado un código de verificación por SMS al {to}.',
      whatsapp: 'Hemos enviado un código de verificación por WhatsApp al {to}.',
      call: 'Estamos llamando al {to} para dictarte un código de verificación.',
      dual: 'Hemos enviado el mismo código de verificación por correo y SMS a {to}.',
    },
    queued: 'Tu código de verificación para {to} está pendiente de envío. Puede tardar un minuto.',
    refused: 'No se ha podido entregar tu código de verificación a {to}. Prueba otro método más abajo.',
    from: {
      app: 'Abre tu aplicación de autenticación e introduce el código que muestra para {app}.',
      backup: 'Introduce uno de los códigos que guardaste. Cada código sirve una sola vez.',
    },
    label: 'Código de verificación',
    labelBackup: 'Código de respaldo',
    submit: 'Continuar',
    trust: 'No volver a preguntar en este navegador durante {time}',
    trustHint: 'Úsalo solo en tu propio dispositivo.',
    expires: 'El código caduca {in}.',
    expired: 'El código ha caducado. Solicita uno nuevo.',
    again: 'Volver a enviar el código',
    callAgain: 'Volver a llamar',
    restart: 'Probar con un código nuevo',
    againWait: 'Podrás volver a solicitar el código {in}.',
    againReady: 'Ya puedes volver a solicitar el código.',
    trouble: {
      app: '¿No puedes usar la aplicación?',
      email: '¿No has recibido el código?',
      sms: '¿No has recibido el código?',
      whatsapp: '¿No has recibido el código?',
      call: '¿No has recibido la llamada?',
      dual: '¿No has recibido el código?',
      backup: '¿No tienes un código de respaldo?',
    },
    tip: {
      app: 'Si se rechazan tus códigos, pon la hora del teléfono en automático. Los códigos dependen de la hora.',
      email: 'El correo puede tardar un minuto. Revisa también la carpeta de spam.',
      sms: 'Los SMS pueden tardar un minuto. Comprueba que tu teléfono tiene cobertura.',
      whatsapp: 'Comprueba que tu teléfono tiene conexión y que WhatsApp puede recibir mensajes.',
      call: 'Comprueba que tu teléfono tiene cobertura y no bloquea números desconocidos.',
      dual: 'Los mensajes pueden tardar un minuto. Revisa también la carpeta de spam. Los dos mensajes contienen el mismo código.',
      backup: 'Te enviamos los códigos de respaldo cuando los solicitaste. Los códigos usados ya no sirven.',
    },
    otherFactors: 'Probar otro método',
    allFactors: 'Ver todas las opciones',
  },
  leave: {
    ends: 'Por tu seguridad, este inicio de sesión caduca {in}.',
    cancel: 'Cancelar y usar otra cuenta',
    notNow: 'Ahora no',
    back: 'Volver a {app}',
  },
  enroll: {
    title: 'Configura una aplicación de autenticación',
    lead: 'Una aplicación en tu teléfono genera los códigos para iniciar sesión. Funciona sin cobertura y es más segura que los SMS.',
    replaces: 'Sustituye a la aplicación que usas ahora. La anterior funciona hasta que confirmes la nueva.',
    start: 'Configurar una aplicación',
    over: {
      exhausted: {
        title: 'Demasiados códigos incorrectos',
        advice:
          'Este código QR ya no sirve, ni siquiera con un código correcto. Elimina la cuenta de tu aplicación y empieza de nuevo con otro.',
      },
      expired: {
        title: 'Se acabó el tiempo',
        advice: 'Este código QR era válido durante 15 minutos y ya no sirve. Empieza de nuevo con otro.',
      },
    },
    restart: 'Empezar de nuevo',
    hidden:
      'El código QR solo se muestra en el navegador en el que empezaste. Si ya no lo tienes, empieza de nuevo.',
    stepOpen: 'Abre tu aplicación de autenticación o instala una primero.',
    stepScan: 'Escanea este código QR para añadir una cuenta.',
    stepKey: 'Introduce esta clave para añadir una cuenta.',
    stepCode: 'Introduce el código que la aplicación muestra para {app}.',
    qrAlt: 'Código QR para tu aplicación de autenticación',
    samePhone: '¿La aplicación está en este dispositivo? Ábrela aquí',
    cannotScan: '¿No puedes escanear el código QR?',
    secret: 'Introduce esta clave en la aplicación:',
    secretSettings: 'Tipo de clave: basada en la hora, 6 dígitos.',
    copy: 'Copiar clave',
    copied: 'Copiada',
    confirm: 'Confirmar',
  },
  enrolled: {
    title: 'Tu aplicación está lista',
    lead: 'A partir de ahora puedes iniciar sesión en {app} con los códigos de tu aplicación.',
    advice: 'Solicita ahora códigos de respaldo para poder iniciar sesión aunque pierdas el teléfono.',
    adviceAlone:
      'Añade también un correo o un número de teléfono a tu cuenta de {app} para poder iniciar sesión aunque pierdas el teléfono.',
    backup: 'Solicitar códigos de respaldo',
    done: 'Continuar a {app}',
  },
  backup: {
    title: 'Solicita códigos de respaldo',
    lead: 'Los códigos de respaldo te permiten iniciar sesión cuando no puedes usar tus otros métodos. Cada código sirve una sola vez.',
    to: 'Los enviaremos a {to}.',
    replaces: 'Los códigos de respaldo que recibiste antes dejarán de funcionar.',
    send: 'Enviar mis códigos',
    sentTitle: 'Códigos de respaldo enviados',
    sent: 'Tus nuevos códigos de respaldo van de camino a {to}.',
    count: {
      one: 'Es {count} código y sirve una sola vez.',
      other: 'Son {count} códigos. Cada uno sirve una sola vez.',
    },
    keep: 'Imprímelos o guárdalos en un gestor de contraseñas. No los guardes solo donde los has recibido.',
  },
  codesLeft: {
    title: 'Quedan pocos códigos de respaldo',
    used: 'Código de respaldo usado',
    left: { one: 'Te queda {count} código de respaldo.', other: 'Te quedan {count} códigos de respaldo.' },
    none: 'Ese era tu último código de respaldo.',
    zero: 'No tienes códigos de respaldo.',
    advice:
      'Solicita códigos nuevos antes de necesitarlos. Sin un código de respaldo, podrías perder el acceso a tu cuenta si no puedes usar tus otros métodos.',
  },
  overview: {
    title: 'Seguridad de tu inicio de sesión',
    lead: 'Puedes usar estos métodos para confirmar que eres tú al iniciar sesión.',
    none: 'Todavía no usas la verificación en dos pasos. Configura una aplicación de autenticación para proteger tu cuenta.',
    factors: 'Métodos de verificación',
    method: {
      app: 'Aplicación de autenticación',
      email: 'Correo electrónico',
      sms: 'SMS',
      whatsapp: 'WhatsApp',
      call: 'Llamada telefónica',
      dual: 'Correo y SMS',
    },
    enroll: 'Configurar una aplicación de autenticación',
    replace: 'Cambiar la aplicación de autenticación',
    backup: 'Solicitar códigos de respaldo nuevos',
    change: 'Cambiar',
    add: 'Añadir un número de teléfono o un correo',
  },
  resume: {
    title: 'Revisa y confirma',
    lead: 'Todavía no se ha enviado nada. Revisa lo que has introducido y confirma.',
    hidden: 'no se muestra aquí',
    confirm: 'Confirmar',
  },
  devices: {
    title: 'Dispositivos de confianza',
    lead: 'En estos navegadores puedes iniciar sesión en {app} sin el segundo paso. Elimina los que no reconozcas.',
    none: 'No tienes navegadores de confianza. Para añadir uno, marca la casilla cuando confirmes un inicio de sesión.',
    name: '{browser} en {system}',
    unknown: 'Navegador desconocido',
    current: 'Este navegador',
    used: 'Último uso: {when}',
    ends: 'Caduca {in}',
    revoke: 'Eliminar',
    revokeAll: 'Eliminar todos',
  },
  notMe: {
    title: 'Protege tu cuenta',
    lead: 'Si otra persona ha usado tu cuenta de {app}, ciérrale el acceso aquí. Se cerrarán todas las sesiones, también la tuya, y se eliminarán todos los navegadores de confianza.',
    confirm: 'No fui yo: cerrar todas las sesiones',
    otherwise: 'Si fuiste tú, cierra esta página. No se ha cambiado nada.',
    doneTitle: 'Todas las sesiones están cerradas',
    done: 'Se han cerrado todas las sesiones de tu cuenta de {app} y se han eliminado todos los navegadores de confianza.',
    next: 'Inicia sesión ahora y cambia tu contraseña. Es posible que otra persona la conozca.',
  },
  recovery: {
    link: '¿Ya no tienes acceso a tu aplicación o teléfono?',
    title: 'Recuperar tu cuenta',
    lead: 'Si ya no puedes usar tu opción más segura para iniciar sesión, puedes configurar una nueva tras un plazo de espera de {time}.',
    notify:
      'Avisaremos a todos estos contactos ahora y de nuevo a mitad del plazo. Cada mensaje permite cancelar la recuperación:',
    ends: 'Cuando termine el plazo, vuelve a iniciar sesión como hoy. Entonces tu opción anterior dejará de funcionar, se cerrarán las demás sesiones y se eliminarán todos los navegadores de confianza.',
    request: 'Solicitar la recuperación',
    impossible:
      'Para recuperar tu cuenta aquí necesitas otra forma de confirmar tu identidad, y tu cuenta no tiene ninguna. Ponte en contacto con {app}.',
    waitingTitle: 'Tu recuperación está en espera',
    waiting: 'Podrás configurar una nueva opción {in}. Vuelve a iniciar sesión entonces.',
    notified: 'Hemos avisado a estos contactos:',
    stop: 'Si mientras tanto inicias sesión con tu opción anterior, la recuperación se cancela.',
    readyTitle: 'Tu recuperación está lista',
    ready:
      'Configura ahora una nueva opción para iniciar sesión. La anterior dejará de funcionar, se cerrarán las demás sesiones y se eliminarán todos los navegadores de confianza.',
    complete: 'Configurar una nueva opción',
    cancel: 'Cancelar la recuperación',
    cancelTitle: '¿Cancelar la recuperación de la cuenta?',
    cancelLead:
      'Alguien que conoce tu contraseña de {app} ha pedido sustituir tu opción más segura. Si no has sido tú, cancélalo aquí.',
    cancelledTitle: 'La recuperación se ha cancelado',
    cancelled: 'Tu cuenta de {app} conserva sus opciones para iniciar sesión.',
    cancelledNext:
      'Si no solicitaste la recuperación, cambia tu contraseña ahora. Puede que otra persona la conozca.',
  },
  bypass: {
    title: 'Introduce el código de asistencia',
    lead: 'Nuestro equipo de asistencia ha restablecido tus opciones para iniciar sesión. Introduce el código que te ha dado. Funciona una sola vez y durante una hora. Después, configura una nueva opción.',
    label: 'Código de asistencia',
  },
  language: 'Idioma',
  stop: { 'sign-in': 'Iniciar sesión', retry: 'Intentarlo de nuevo', home: 'Volver a {app}' },
  stopReady: 'Ya puedes intentarlo de nuevo.',
  clockSlow:
    'Este código es de hace aproximadamente {time}. Parece que la hora de tu teléfono no es correcta. Ponla en automático.',
  attemptsLeft: { one: 'Te queda {count} intento.', other: 'Te quedan {count} intentos.' },
  success: {
    code_sent: 'Código enviado.',
    code_sent_again: 'Código enviado de nuevo.',
    code_queued: 'Tu código se enviará enseguida.',
    device_revoked: 'Ese navegador ya no es de confianza.',
    devices_revoked: 'Se han eliminado todos los navegadores de confianza.',
  },
  problems: {
    sign_in_required: { title: 'Primero inicia sesión', advice: 'No has iniciado sesión en {app}.' },
    pending_login_expired: {
      title: 'El inicio de sesión ha tardado demasiado',
      advice: 'Se ha cancelado por tu seguridad. Vuelve a iniciar sesión.',
    },
    mfa_required: { title: 'Un paso más', advice: 'Confirma que eres tú para continuar.' },
    step_up_required: {
      title: 'Confirma de nuevo que eres tú',
      advice: 'Ha pasado demasiado tiempo desde tu última confirmación.',
    },
    enrollment_required: {
      title: 'Primero configura la verificación en dos pasos',
      advice:
        'Esta parte de {app} es solo para cuentas con verificación en dos pasos, por ejemplo con una aplicación de autenticación.',
    },
    session_ended: {
      title: 'Tu sesión ha terminado',
      advice: 'Entretanto has cerrado sesión o la has vuelto a iniciar. Vuelve a iniciar sesión.',
    },
    invalid_code: { title: 'Código incorrecto', advice: 'Comprueba el código e inténtalo de nuevo.' },
    code_expired: { title: 'El código ha caducado', advice: 'Solicita uno nuevo.' },
    no_challenge: { title: 'Todavía no se ha enviado ningún código', advice: 'Solicita primero un código.' },
    challenge_exhausted: {
      title: 'Demasiados códigos incorrectos',
      advice: 'Este código ya no sirve, aunque lo introduzcas bien. Empieza de nuevo con otro código.',
    },
    locked: {
      title: 'Bloqueado temporalmente',
      advice:
        'Se han introducido demasiados códigos incorrectos en tu cuenta. Podrás intentarlo de nuevo {in}.',
    },
    resend_too_soon: {
      title: 'Acabas de solicitar un código',
      advice: 'Podrás volver a solicitarlo {in}.',
    },
    too_many_messages: {
      title: 'Se han enviado demasiados códigos',
      advice: 'Tu cuenta ha alcanzado su límite de mensajes. Podrás solicitar otro código {in}.',
    },
    unknown_factor: {
      title: 'Esta opción no está disponible',
      advice: 'Ya no pertenece a tu cuenta. Elige otra opción.',
    },
    factor_disabled: {
      title: 'Esta opción está desactivada',
      advice: 'Ha fallado demasiadas veces y hay que configurarla de nuevo. Elige otra opción.',
    },
    method_off: { title: 'Esta opción no se ofrece aquí', advice: 'Elige otra opción.' },
    contact_refused: {
      title: 'No podemos enviar nada a esta dirección o número',
      advice: 'Elige otra opción.',
    },
    delivery_failed: {
      title: 'No se ha podido entregar el código',
      advice:
        'El operador o el proveedor de correo ha rechazado el mensaje. Inténtalo de nuevo o elige otra opción.',
    },
    contact_needed: {
      title: 'No hay ningún contacto para los códigos de respaldo',
      advice: 'Añade primero un correo o un número de teléfono a tu cuenta de {app} y vuelve después.',
    },
    recovery_not_needed: {
      title: 'No necesitas una recuperación',
      advice:
        'Acabas de confirmar tu identidad con tu opción más segura, o no tienes otra más segura. Puedes cambiar tus opciones directamente.',
    },
    no_recovery: {
      title: 'No hay ninguna recuperación pendiente',
      advice: 'Se canceló, se completó o ha caducado. Puedes solicitar otra.',
    },
    recovery_waiting: { title: 'Espera un poco más', advice: 'Podrás configurar una nueva opción {in}.' },
    bypass_code_required: {
      title: 'Introduce el código de asistencia',
      advice:
        'Tus opciones para iniciar sesión se han restablecido. Ahora solo funciona el código de nuestro equipo de asistencia.',
    },
    recovery_not_notified: {
      title: 'No podemos iniciar una recuperación ahora',
      advice:
        'No hemos podido avisar a ninguno de tus contactos, así que no se ha iniciado nada. Inténtalo más tarde.',
    },
    invalid_request: { title: 'Falta algún dato', advice: 'Rellena el formulario y envíalo de nuevo.' },
    cross_site: {
      title: 'Esta solicitud procede de otro sitio web',
      advice: 'Por tu seguridad no se ha hecho nada. Vuelve a {app} e inténtalo de nuevo desde allí.',
    },
    not_found: {
      title: 'Página no encontrada',
      advice: 'Es posible que la dirección esté desactualizada o mal escrita.',
    },
    unknown_link: {
      title: 'Este enlace ya no funciona',
      advice: 'Ya se ha usado o ha caducado. Si te preocupa, inicia sesión en {app} y cambia tu contraseña.',
    },
    unknown_device: {
      title: 'Este navegador no está en la lista',
      advice: 'Es posible que ya se haya eliminado.',
    },
    method_not_allowed: {
      title: 'Esta dirección no se puede abrir directamente',
      advice: 'Vuelve atrás y usa el formulario de la página.',
    },
    unsupported_media_type: {
      title: 'No hemos podido leer el formulario',
      advice: 'Usa el formulario de la página.',
    },
    body_too_large: { title: 'El texto era demasiado largo', advice: 'Introduce solo el código.' },
    service_unavailable: {
      title: 'Ahora mismo no podemos comprobar códigos',
      advice: 'No es culpa tuya y no cuenta como intento. Inténtalo de nuevo en unos minutos.',
    },
    delivery_unavailable: {
      title: 'Ahora mismo no podemos enviar códigos',
      advice:
        'No es culpa tuya y no cuenta como intento. Prueba otro método más abajo o inténtalo de nuevo en unos minutos.',
    },
    service_misconfigured: {
      title: 'Ahora mismo no podemos comprobar códigos',
      advice: 'Hay que corregir primero un problema en {app}. Comunícalo o inténtalo más tarde.',
    },
    internal_error: {
      title: 'Se ha producido un error',
      advice: 'Ha sido culpa nuestra. Inténtalo de nuevo dentro de un momento.',
    },
  },
}
