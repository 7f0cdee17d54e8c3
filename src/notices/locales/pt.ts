import type { NoticeCatalogue } from '../catalogue.js'

/** Portuguese. */
export const pt: NoticeCatalogue = {
  subject: {
    factor_added: '{app}: uma forma de confirmar foi incluída',
    factor_removed: '{app}: uma forma de confirmar foi removida',
    backup_codes_sent: '{app}: novos códigos de reserva',
    backup_code_used: '{app}: um código de reserva foi usado',
    device_trusted: '{app}: um navegador agora é confiável',
    repeated_failures: '{app}: talvez alguém saiba sua senha',
    account_secured: '{app}: sua conta foi protegida',
  },
  what: {
    factor_added: 'Uma nova forma de confirmar suas entradas em {app} foi incluída: {factor}.',
    factor_removed: 'Uma forma de confirmar suas entradas em {app} foi removida: {factor}.',
    backup_codes_sent:
      'Novos códigos de reserva foram criados para sua conta em {app}. Os antigos não valem mais.',
    backup_code_used:
      'Um código de reserva foi usado para confirmar uma entrada em sua conta em {app}. Nenhum navegador é mais confiável.',
    device_trusted:
      'Um navegador é confiável a partir de agora: ele entra em sua conta em {app} sem a segunda etapa.',
    repeated_failures:
      'Alguém digitou a senha certa de sua conta em {app} e depois vários códigos errados. Com eles, não entrou.',
    account_secured:
      'Pelo link de uma mensagem soubemos que não foi você. Todas as sessões de sua conta em {app} foram encerradas, e nenhum navegador é mais confiável.',
  },
  when: 'Quando: {value}',
  browser: 'Navegador: {value}',
  address: 'Endereço de rede: {value}',
  location: 'Lugar: {value}',
  fine: 'Se foi você, não é preciso fazer nada.',
  notYou:
    'Se não foi você, abra esta página. Ela encerra todas as sessões de sua conta e deixa de confiar em todos os navegadores:',
  thenPassword: 'Depois troque sua senha.',
  notYouHere: 'Se não foi você, troque sua senha em {app} agora e avise os responsáveis.',
}
