import type { NoticeCatalogue } from '../catalogue.js'

/** Japanese. */
export const ja: NoticeCatalogue = {
  subject: {
    factor_added: '{app}：確認方法が追加されました',
    factor_removed: '{app}：確認方法が削除されました',
    backup_codes_sent: '{app}：新しいバックアップコード',
    backup_code_used: '{app}：バックアップコードが使われました',
    device_trusted: '{app}：ブラウザーが信頼済みになりました',
    repeated_failures: '{app}：パスワードを知られた可能性があります',
    account_secured: '{app}：アカウントを保護しました',
  },
  what: {
    factor_added: '{app}へのログインに新しい確認方法が追加されました：{factor}。',
    factor_removed: '{app}へのログインの確認方法が削除されました：{factor}。',
    backup_codes_sent:
      '{app}のアカウントに新しいバックアップコードが作られました。以前のコードは使えません。',
    backup_code_used:
      '{app}のアカウントへのログインにバックアップコードが使われました。すべてのブラウザーの信頼を取り消しました。',
    device_trusted:
      'ブラウザーが信頼済みになりました。今後、2段階目の確認なしで{app}のアカウントにログインできます。',
    repeated_failures:
      '{app}のアカウントに正しいパスワードが入力されたあと、誤ったコードが何度も入力されました。そのコードではログインされていません。',
    account_secured:
      'メッセージのリンクから、ご本人の操作ではないとの連絡がありました。{app}のアカウントのすべてのログインを終了し、すべてのブラウザーの信頼を取り消しました。',
  },
  when: '日時：{value}',
  browser: 'ブラウザー：{value}',
  address: 'ネットワークアドレス：{value}',
  location: '場所：{value}',
  fine: 'ご自身の操作であれば、何もする必要はありません。',
  notYou:
    '心当たりがない場合は、次のページを開いてください。アカウントのすべてのログインを終了し、すべてのブラウザーの信頼を取り消します：',
  thenPassword: 'そのあとパスワードを変更してください。',
  notYouHere: '心当たりがない場合は、すぐに{app}でパスワードを変更し、運営者に知らせてください。',
}
