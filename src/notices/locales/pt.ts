import type { NoticeCatalogue } from '../catalogue.js'

/** Portuguese: Brazilian forms, without words that are unusual in Portugal. */
export const pt: NoticeCatalogue = {
  subject: {
    factor_added: '{app}: novo método de acesso',
    factor_removed: '{app}: método de acesso removido',
    backup_codes_sent: '{app}: novos códigos de backup',
    backup_code_used: '{app}: código de backup usado',
    device_trusted: '{app}: novo navegador de confiança',
    factor_disabled: '{app}: opção de acesso desativada',
    backup_codes_disabled: '{app}: códigos de backup desativados',
    repeated_failures: '{app}: talvez alguém conheça sua senha',
    account_secured: '{app}: sua conta foi protegida',
    recovery_requested: '{app}: recuperação da conta solicitada',
    recovery_reminder: '{app}: a recuperação da conta será concluída em breve',
    recovery_cancelled: '{app}: recuperação da conta cancelada',
    recovery_completed: '{app}: recuperação da conta concluída',
    account_reset: '{app}: a sua conta foi redefinida',
  },
  what: {
    factor_added: 'Agora você pode confirmar seus acessos a {app} com um novo método: {factor}.',
    factor_removed: 'Este método para confirmar seus acessos a {app} foi removido: {factor}.',
    backup_codes_sent:
      'Novos códigos de backup foram criados para sua conta em {app}. Os anteriores não funcionam mais.',
    backup_code_used:
      'Um código de backup foi usado para entrar na sua conta em {app}. Todos os navegadores de confiança foram removidos.',
    device_trusted:
      'Há um novo navegador de confiança. Com ele, é possível entrar na sua conta em {app} sem a segunda etapa.',
    factor_disabled:
      'Foram digitados códigos errados demais nesta opção para confirmar seus acessos ao {app}. Ela está desativada até ser configurada novamente: {factor}. Talvez alguém conheça sua senha.',
    backup_codes_disabled:
      'Foram digitados códigos de backup errados demais na sua conta do {app}. Seus códigos de backup estão desativados até você pedir novos. Talvez alguém conheça sua senha.',
    repeated_failures:
      'Alguém digitou a senha correta da sua conta em {app} e depois vários códigos incorretos. Com esses códigos, a pessoa não entrou.',
    account_secured:
      'O link de uma mensagem de segurança foi usado para informar uma atividade que não era sua. Todas as sessões da sua conta em {app} foram encerradas e todos os navegadores de confiança foram removidos.',
    recovery_requested:
      'Alguém que entrou na sua conta do {app} diz que não consegue mais usar a opção de login mais segura e quer configurar uma nova. A partir de {ready}, poderá substituí-la.',
    recovery_reminder:
      'A recuperação da sua conta do {app} ainda está aguardando. A partir de {ready}, quem a solicitou poderá substituir a sua opção de login mais segura.',
    recovery_cancelled:
      'A recuperação da sua conta do {app} foi cancelada. As suas opções de login não mudaram.',
    recovery_completed:
      'A recuperação da sua conta do {app} foi concluída. A sua opção de login antiga não funciona mais, todas as sessões foram encerradas e todos os navegadores confiáveis foram removidos.',
    account_reset:
      'A nossa equipe de suporte redefiniu as opções de login da sua conta do {app}. Todas as sessões foram encerradas e todos os navegadores confiáveis foram removidos. Para entrar, digite o código que a nossa equipe de suporte deu a você e depois configure uma nova opção.',
  },
  when: 'Data: {value}',
  browser: 'Navegador: {value}',
  address: 'Endereço IP: {value}',
  location: 'Local: {value}',
  fine: 'Se foi você, não é preciso fazer nada.',
  notYou:
    'Se não foi você, abra esta página. Nela você pode encerrar todas as sessões da sua conta e remover todos os navegadores de confiança:',
  thenPassword: 'Altere também sua senha.',
  notYouHere: 'Se não foi você, altere agora sua senha em {app} e entre em contato com {app}.',
  cancel: 'Se você não fez este pedido, cancele aqui:',
  short: {
    recovery_requested:
      '{app}: alguém pediu a recuperação da sua conta. Ela poderá ser concluída a partir de {ready}. Não foi você? Cancelar:',
    recovery_reminder:
      '{app}: a recuperação da sua conta ainda está aguardando e poderá ser concluída a partir de {ready}. Não foi você? Cancelar:',
    recovery_cancelled: '{app}: a recuperação da sua conta foi cancelada.',
    recovery_completed:
      '{app}: a recuperação da sua conta foi concluída. Se não foi você, fale com {app} agora.',
    account_reset:
      '{app}: a nossa equipe de suporte redefiniu as opções de login da sua conta. Se você não pediu isso, fale com {app} agora.',
  },
}
