import type { NoticeCatalogue } from '../catalogue.js'

/** Japanese. */
export const ja: NoticeCatalogue = {
  subject: {
    factor_added: '{app}：本人確認の方法が追加されました',
    factor_removed: '{app}：本人確認の方法が削除されました',
    backup_codes_sent: '{app}：新しいバックアップ コード',
    backup_code_used: '{app}：バックアップ コードが使用されました',
    device_trusted: '{app}：信頼できるブラウザが追加されました',
    factor_disabled: '{app}：確認方法が無効になりました',
    backup_codes_disabled: '{app}：バックアップコードが無効になりました',
    repeated_failures: '{app}：パスワードを知られている可能性があります',
    account_secured: '{app}：アカウントを保護しました',
  },
  what: {
    factor_added: '{app}へのログイン時の本人確認に、新しい方法が追加されました：{factor}',
    factor_removed: '{app}へのログイン時の本人確認の方法が削除されました：{factor}',
    backup_codes_sent:
      '{app}のアカウントの新しいバックアップ コードが作成されました。以前のコードは使用できません。',
    backup_code_used:
      '{app}のアカウントへのログインにバックアップ コードが使用されました。信頼できるブラウザはすべて削除されました。',
    device_trusted:
      '信頼できるブラウザが追加されました。このブラウザでは、2段階目の確認なしで{app}のアカウントにログインできます。',
    factor_disabled:
      '{app}へのログインを確認する次の方法で、誤ったコードが何度も入力されました。再設定されるまで無効になります：{factor}。パスワードを知られている可能性があります。',
    backup_codes_disabled:
      '{app}のアカウントで、誤ったバックアップコードが何度も入力されました。新しいコードを取得するまで、バックアップコードは無効になります。パスワードを知られている可能性があります。',
    repeated_failures:
      '{app}のアカウントに正しいパスワードが入力された後、間違ったコードが何度も入力されました。これらのコードではログインされていません。',
    account_secured:
      'セキュリティ メッセージのリンクから、ご本人によるものではない操作が報告されました。{app}のアカウントのすべてのセッションを終了し、信頼できるブラウザをすべて削除しました。',
  },
  when: '日時：{value}',
  browser: 'ブラウザ：{value}',
  address: 'IPアドレス：{value}',
  location: '場所：{value}',
  fine: 'ご自身の操作である場合は、何もする必要はありません。',
  notYou:
    '心当たりがない場合は、次のページを開いてください。アカウントのすべてのセッションを終了し、信頼できるブラウザをすべて削除できます：',
  thenPassword: 'パスワードも変更してください。',
  notYouHere: '心当たりがない場合は、すぐに{app}のパスワードを変更し、{app}にお問い合わせください。',
}
