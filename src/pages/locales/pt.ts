import type { Catalogue } from './catalogue.js'

/** Portuguese: Brazilian forms, without words that are unusual in Portugal. */
export const pt: Catalogue = {
  dir: 'ltr',
  documentTitle: '{page} – {app}',
  documentTitleError: 'Erro: {page} – {app}',
  later: 'mais tarde',
  grace: 'Configure a verificação em duas etapas até {date}.',
  choose: {
    title: 'Confirme que é você',
    lead: {
      'sign-in': 'Mais uma etapa para entrar em {app}. Escolha como confirmar que é você.',
      'step-up': 'Esta ação exige uma nova confirmação. Escolha como confirmar que é você.',
      manage: 'Antes de alterar estas configurações, escolha como confirmar que é você.',
    },
    act: {
      app: 'Usar seu app autenticador',
      email: 'Enviar um código por e-mail para {to}',
      sms: 'Enviar um código por SMS para {to}',
      whatsapp: 'Enviar um código por WhatsApp para {to}',
      call: 'Ligar para {to}',
      dual: 'Enviar o mesmo código por e-mail e SMS para {to}',
    },
    backup: 'Usar um código de backup',
    backupHint: 'Um dos códigos que você guardou',
    backupMaybe: 'Você tem um código de backup?',
    emailHint: 'A opção menos segura: depende da segurança do seu e-mail',
    phoneHint: 'Menos segura que um app autenticador',
    none: 'Sua conta ainda não tem um método de verificação. Entre em contato com {app}.',
  },
  code: {
    title: {
      app: 'Digite o código do seu app',
      email: 'Verifique seu e-mail',
      sms: 'Verifique suas mensagens de texto',
      whatsapp: 'Verifique seu WhatsApp',
      call: 'Atenda o telefone',
      dual: 'Verifique seu e-mail e seus SMS',
      backup: 'Digite um código de backup',
    },
    titleFirst: 'Solicite seu código',
    titleNew: 'Solicite um novo código',
    sent: {
      email: 'Enviamos um código de verificação por e-mail para {to}.',
      sms: 'Enviamos um código de verificação por SMS para {to}.',
      whatsapp: 'Enviamos um código de verificação por WhatsApp para {to}.',
      call: 'Estamos ligando para {to} para ditar um código de verificação.',
      dual: 'Enviamos o mesmo código de verificação por e-mail e SMS para {to}.',
    },
    queued: 'Seu código de verificação para {to} está aguardando o envio. Isso pode levar um minuto.',
    refused: 'Não foi possível entregar seu código de verificação para {to}. Tente outro método abaixo.',
    from: {
      app: 'Abra seu app autenticador e digite o código que ele mostra para {app}.',
      backup: 'Digite um dos códigos que você guardou. Cada código funciona uma única vez.',
    },
    label: 'Código de verificação',
    labelBackup: 'Código de backup',
    submit: 'Continuar',
    trust: 'Não perguntar novamente neste navegador por {time}',
    trustHint: 'Use apenas em um dispositivo seu.',
    expires: 'O código expira {in}.',
    expired: 'O código expirou. Solicite um novo.',
    again: 'Enviar o código novamente',
    callAgain: 'Ligar novamente',
    restart: 'Tentar com um novo código',
    againWait: 'Você poderá solicitar o código novamente {in}.',
    againReady: 'Você já pode solicitar o código novamente.',
    trouble: {
      app: 'Não consegue usar o app?',
      email: 'Não recebeu o código?',
      sms: 'Não recebeu o código?',
      whatsapp: 'Não recebeu o código?',
      call: 'Não recebeu a ligação?',
      dual: 'Não recebeu o código?',
      backup: 'Não tem um código de backup?',
    },
    tip: {
      app: 'Se seus códigos forem recusados, ajuste a hora do telefone para automática. Os códigos dependem da hora.',
      email: 'O e-mail pode levar um minuto. Verifique também a pasta de spam.',
      sms: 'O SMS pode levar um minuto. Verifique se seu telefone tem sinal.',
      whatsapp: 'Verifique se seu telefone está conectado e se o WhatsApp pode receber mensagens.',
      call: 'Verifique se seu telefone tem sinal e não bloqueia números desconhecidos.',
      dual: 'As mensagens podem levar um minuto. Verifique também a pasta de spam. As duas mensagens contêm o mesmo código.',
      backup:
        'Enviamos seus códigos de backup quando você os solicitou. Códigos já usados não funcionam mais.',
    },
    otherFactors: 'Tentar outro método',
    allFactors: 'Ver todas as opções',
  },
  leave: {
    ends: 'Para sua segurança, este acesso expira {in}.',
    cancel: 'Cancelar e usar outra conta',
    notNow: 'Agora não',
    back: 'Voltar para {app}',
  },
  enroll: {
    title: 'Configure um app autenticador',
    lead: 'Um app no seu telefone gera os códigos de acesso. Ele funciona sem sinal e é mais seguro que o SMS.',
    replaces: 'Ele substitui o app que você usa agora. O antigo funciona até que o novo seja confirmado.',
    start: 'Configurar um app',
    over: {
      exhausted: {
        title: 'Códigos errados demais',
        advice:
          'Este código QR não funciona mais, nem com um código correto. Exclua a conta do aplicativo e recomece com um novo.',
      },
      expired: {
        title: 'O tempo acabou',
        advice: 'Este código QR era válido por 15 minutos e não funciona mais. Recomece com um novo.',
      },
    },
    restart: 'Recomeçar',
    hidden: 'O código QR só aparece no navegador em que você começou. Se você não o tem mais, recomece.',
    stepOpen: 'Abra seu app autenticador ou instale um primeiro.',
    stepScan: 'Escaneie este código QR para adicionar uma conta.',
    stepKey: 'Digite esta chave para adicionar uma conta.',
    stepCode: 'Digite o código que o app mostra para {app}.',
    qrAlt: 'Código QR para seu app autenticador',
    samePhone: 'O app está neste dispositivo? Abra aqui',
    cannotScan: 'Não consegue escanear o código QR?',
    secret: 'Digite esta chave no app:',
    secretSettings: 'Tipo de chave: baseada na hora, 6 dígitos.',
    copy: 'Copiar chave',
    copied: 'Copiada',
    confirm: 'Confirmar',
  },
  enrolled: {
    title: 'Seu app está pronto',
    lead: 'A partir de agora, você pode entrar em {app} com os códigos do seu app.',
    advice: 'Solicite agora códigos de backup para poder entrar mesmo que perca seu telefone.',
    adviceAlone:
      'Adicione também um e-mail ou número de telefone à sua conta em {app} para poder entrar mesmo que perca seu telefone.',
    backup: 'Solicitar códigos de backup',
    done: 'Continuar para {app}',
  },
  backup: {
    title: 'Solicite códigos de backup',
    lead: 'Com códigos de backup, você pode entrar quando não consegue usar seus outros métodos. Cada código funciona uma única vez.',
    to: 'Vamos enviá-los para {to}.',
    replaces: 'Os códigos de backup recebidos antes deixarão de funcionar.',
    send: 'Enviar meus códigos',
    sentTitle: 'Códigos de backup enviados',
    sent: 'Seus novos códigos de backup estão a caminho de {to}.',
    count: {
      one: 'É {count} código, que funciona uma única vez.',
      other: 'São {count} códigos. Cada um funciona uma única vez.',
    },
    keep: 'Imprima-os ou guarde-os em um gerenciador de senhas. Não os guarde apenas onde você os recebeu.',
  },
  codesLeft: {
    title: 'Restam poucos códigos de backup',
    used: 'Código de backup usado',
    left: { one: 'Resta {count} código de backup.', other: 'Restam {count} códigos de backup.' },
    none: 'Esse era o seu último código de backup.',
    zero: 'Você não tem códigos de backup.',
    advice:
      'Solicite novos códigos antes de precisar deles. Sem um código de backup, você pode perder o acesso à sua conta se não puder usar seus outros métodos.',
  },
  overview: {
    title: 'Segurança do seu acesso',
    lead: 'Você pode usar estes métodos para confirmar que é você ao entrar.',
    none: 'Você ainda não usa a verificação em duas etapas. Configure um app autenticador para proteger sua conta.',
    factors: 'Métodos de verificação',
    method: {
      app: 'App autenticador',
      email: 'E-mail',
      sms: 'SMS',
      whatsapp: 'WhatsApp',
      call: 'Ligação telefônica',
      dual: 'E-mail e SMS',
    },
    enroll: 'Configurar um app autenticador',
    replace: 'Trocar o app autenticador',
    backup: 'Solicitar novos códigos de backup',
    change: 'Alterar',
    add: 'Adicionar um número de telefone ou e-mail',
  },
  resume: {
    title: 'Confira e confirme',
    lead: 'Nada foi enviado ainda. Confira o que você digitou e confirme.',
    hidden: 'não exibido aqui',
    confirm: 'Confirmar',
  },
  devices: {
    title: 'Dispositivos de confiança',
    lead: 'Nestes navegadores, você pode entrar em {app} sem a segunda etapa. Remova os que você não reconhece.',
    none: 'Você não tem navegadores de confiança. Para adicionar um, marque a caixa ao confirmar um acesso.',
    name: '{browser} no {system}',
    unknown: 'Navegador desconhecido',
    current: 'Este navegador',
    used: 'Último uso: {when}',
    ends: 'Expira {in}',
    revoke: 'Remover',
    revokeAll: 'Remover todos',
  },
  notMe: {
    title: 'Proteja sua conta',
    lead: 'Se outra pessoa usou sua conta em {app}, bloqueie o acesso aqui. Todas as sessões serão encerradas, inclusive a sua, e todos os navegadores de confiança serão removidos.',
    confirm: 'Não fui eu: encerrar todas as sessões',
    otherwise: 'Se foi você, feche esta página. Nada foi alterado.',
    doneTitle: 'Todas as sessões foram encerradas',
    done: 'Todas as sessões da sua conta em {app} foram encerradas e todos os navegadores de confiança foram removidos.',
    next: 'Entre agora e altere sua senha. Talvez outra pessoa a conheça.',
  },
  recovery: {
    link: 'Perdeu o acesso ao seu app ou telefone?',
    title: 'Recuperar a sua conta',
    lead: 'Se você não consegue mais usar a sua opção de login mais segura, pode configurar uma nova depois de um período de espera de {time}.',
    notify:
      'Vamos avisar todos estes contatos agora e de novo na metade do período. Cada mensagem permite cancelar a recuperação:',
    ends: 'Quando o período de espera terminar, entre de novo como fez hoje. A sua opção antiga deixa então de funcionar, as outras sessões são encerradas e todos os navegadores confiáveis são removidos.',
    request: 'Solicitar a recuperação',
    impossible:
      'Para recuperar a sua conta aqui, você precisa de outra forma de confirmar a sua identidade, e a sua conta não tem nenhuma. Entre em contato com {app}.',
    waitingTitle: 'A sua recuperação está aguardando',
    waiting: 'Você poderá configurar uma nova opção de login {in}. Entre de novo nesse momento.',
    notified: 'Avisamos estes contatos:',
    stop: 'Se você entrar com a sua opção antiga nesse meio-tempo, a recuperação será cancelada.',
    readyTitle: 'A sua recuperação está pronta',
    ready:
      'Configure agora uma nova opção de login. A antiga deixa de funcionar, as outras sessões são encerradas e todos os navegadores confiáveis são removidos.',
    complete: 'Configurar uma nova opção',
    cancel: 'Cancelar a recuperação',
    cancelTitle: 'Cancelar a recuperação da conta?',
    cancelLead:
      'Alguém que sabe a sua senha do {app} pediu para substituir a sua opção de login mais segura. Se não foi você, cancele aqui.',
    cancelledTitle: 'A recuperação foi cancelada',
    cancelled: 'A sua conta do {app} mantém as suas opções de login.',
    cancelledNext:
      'Se você não solicitou a recuperação, mude a sua senha agora. Outra pessoa pode saber qual é.',
  },
  bypass: {
    title: 'Digite o código do suporte',
    lead: 'A nossa equipe de suporte redefiniu as suas opções de login. Digite o código que ela deu a você. Ele funciona uma vez, durante uma hora. Depois, configure uma nova opção.',
    label: 'Código do suporte',
  },
  language: 'Idioma',
  stop: { 'sign-in': 'Entrar', retry: 'Tentar novamente', home: 'Voltar para {app}' },
  stopReady: 'Você já pode tentar novamente.',
  clockSlow:
    'Este código é de cerca de {time} atrás. O relógio do seu telefone parece estar errado. Ajuste a hora para automática.',
  attemptsLeft: { one: 'Você tem mais {count} tentativa.', other: 'Você tem mais {count} tentativas.' },
  success: {
    code_sent: 'Código enviado.',
    code_sent_again: 'Código enviado novamente.',
    code_queued: 'Seu código será enviado em instantes.',
    device_revoked: 'Este navegador não é mais de confiança.',
    devices_revoked: 'Todos os navegadores de confiança foram removidos.',
  },
  problems: {
    sign_in_required: { title: 'Entre primeiro na sua conta', advice: 'Você não entrou em {app}.' },
    pending_login_expired: {
      title: 'O acesso demorou demais',
      advice: 'Ele foi encerrado para sua segurança. Entre novamente.',
    },
    mfa_required: { title: 'Mais uma etapa', advice: 'Confirme que é você para continuar.' },
    step_up_required: {
      title: 'Confirme novamente que é você',
      advice: 'Sua última confirmação é antiga demais para esta ação.',
    },
    enrollment_required: {
      title: 'Configure primeiro a verificação em duas etapas',
      advice:
        'Esta parte de {app} é apenas para contas com verificação em duas etapas, por exemplo com um app autenticador.',
    },
    session_ended: {
      title: 'Sua sessão terminou',
      advice: 'Nesse meio-tempo, você saiu ou entrou novamente. Entre mais uma vez.',
    },
    invalid_code: { title: 'Código incorreto', advice: 'Confira o código e tente novamente.' },
    code_expired: { title: 'O código expirou', advice: 'Solicite um novo.' },
    no_challenge: { title: 'Nenhum código foi enviado ainda', advice: 'Solicite primeiro um código.' },
    challenge_exhausted: {
      title: 'Muitos códigos incorretos',
      advice:
        'Este código não funciona mais, mesmo digitado corretamente. Comece novamente com outro código.',
    },
    locked: {
      title: 'Bloqueado temporariamente',
      advice: 'Muitos códigos incorretos foram digitados na sua conta. Você poderá tentar novamente {in}.',
    },
    resend_too_soon: {
      title: 'Você acabou de solicitar um código',
      advice: 'Você poderá solicitá-lo novamente {in}.',
    },
    too_many_messages: {
      title: 'Muitos códigos enviados',
      advice: 'Sua conta atingiu o limite de mensagens. Você poderá solicitar outro código {in}.',
    },
    unknown_factor: {
      title: 'Esta opção não está disponível',
      advice: 'Ela não faz mais parte da sua conta. Escolha outra opção.',
    },
    factor_disabled: {
      title: 'Esta opção está desativada',
      advice: 'Ela falhou muitas vezes e precisa ser configurada novamente. Escolha outra opção.',
    },
    method_off: { title: 'Esta opção não é oferecida aqui', advice: 'Escolha outra opção.' },
    contact_refused: {
      title: 'Não conseguimos enviar para este endereço ou número',
      advice: 'Escolha outra opção.',
    },
    delivery_failed: {
      title: 'Não foi possível entregar o código',
      advice:
        'A operadora ou o provedor de e-mail recusou a mensagem. Tente novamente ou escolha outra opção.',
    },
    contact_needed: {
      title: 'Não há um contato para códigos de backup',
      advice: 'Adicione primeiro um e-mail ou número de telefone à sua conta em {app} e depois volte.',
    },
    recovery_not_needed: {
      title: 'Você não precisa de uma recuperação',
      advice:
        'Você acabou de confirmar a sua identidade com a sua opção mais segura, ou não tem outra mais segura. Pode alterar as suas opções diretamente.',
    },
    no_recovery: {
      title: 'Nenhuma recuperação pendente',
      advice: 'Ela foi cancelada, concluída ou expirou. Você pode solicitar outra.',
    },
    recovery_waiting: {
      title: 'Aguarde mais um pouco',
      advice: 'Você poderá configurar uma nova opção de login {in}.',
    },
    bypass_code_required: {
      title: 'Digite o código do suporte',
      advice:
        'As suas opções de login foram redefinidas. Agora só funciona o código da nossa equipe de suporte.',
    },
    recovery_not_notified: {
      title: 'Não é possível iniciar uma recuperação agora',
      advice:
        'Não conseguimos avisar nenhum dos seus contatos, por isso nada foi iniciado. Tente de novo mais tarde.',
    },
    invalid_request: { title: 'Falta alguma informação', advice: 'Preencha o formulário e envie novamente.' },
    cross_site: {
      title: 'Esta solicitação veio de outro site',
      advice: 'Para sua segurança, nada foi feito. Volte para {app} e tente novamente por lá.',
    },
    not_found: {
      title: 'Página não encontrada',
      advice: 'O endereço pode estar desatualizado ou digitado incorretamente.',
    },
    unknown_link: {
      title: 'Este link não funciona mais',
      advice: 'Ele já foi usado ou expirou. Se estiver em dúvida, entre em {app} e altere sua senha.',
    },
    unknown_device: { title: 'Este navegador não está na lista', advice: 'Talvez já tenha sido removido.' },
    method_not_allowed: {
      title: 'Este endereço não pode ser aberto diretamente',
      advice: 'Volte e use o formulário da página.',
    },
    unsupported_media_type: {
      title: 'Não foi possível ler o formulário',
      advice: 'Use o formulário da página.',
    },
    body_too_large: { title: 'O texto era longo demais', advice: 'Digite apenas o código.' },
    service_unavailable: {
      title: 'Não conseguimos verificar códigos no momento',
      advice: 'A culpa não é sua e nenhuma tentativa foi contada. Tente novamente em alguns minutos.',
    },
    delivery_unavailable: {
      title: 'Não conseguimos enviar códigos no momento',
      advice:
        'A culpa não é sua e nenhuma tentativa foi contada. Use outro método abaixo ou tente novamente em alguns minutos.',
    },
    service_misconfigured: {
      title: 'Não conseguimos verificar códigos no momento',
      advice: 'Um problema em {app} precisa ser corrigido primeiro. Informe o problema ou tente mais tarde.',
    },
    internal_error: {
      title: 'Algo deu errado',
      advice: 'A culpa foi nossa. Tente novamente daqui a pouco.',
    },
  },
}
