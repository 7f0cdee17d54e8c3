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
    recovery_requested: '{app}：アカウントの復旧がリクエストされました',
    recovery_reminder: '{app}：アカウントの復旧がまもなく可能になります',
    recovery_cancelled: '{app}：アカウントの復旧がキャンセルされました',
    recovery_completed: '{app}：アカウントの復旧が完了しました',
    account_reset: '{app}：アカウントがリセットされました',
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
    recovery_requested:
      '{app} のアカウントにログインした人が、最も安全な確認方法を使えなくなったため、新しい方法の設定を求めています。{ready} 以降、置き換えができるようになります。',
    recovery_reminder:
      '{app} のアカウントの復旧はまだ待機中です。{ready} 以降、リクエストした人は最も安全な確認方法を置き換えられます。',
    recovery_cancelled: '{app} のアカウントの復旧はキャンセルされました。確認方法は変更されていません。',
    recovery_completed:
      '{app} のアカウントの復旧が完了しました。以前の確認方法は使えなくなり、すべてのセッションが終了し、信頼済みのブラウザーはすべて削除されました。',
    account_reset:
      'サポート担当者が {app} のアカウントの確認方法をリセットしました。すべてのセッションが終了し、信頼済みのブラウザーはすべて削除されました。ログインするには、サポート担当者から受け取ったコードを入力し、その後新しい確認方法を設定してください。',
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
  cancel: '心当たりがない場合は、こちらでキャンセルしてください：',
  short: {
    recovery_requested:
      '{app}：アカウントの復旧がリクエストされました。{ready} 以降に完了できます。心当たりがない場合はキャンセル：',
    recovery_reminder:
      '{app}：アカウントの復旧は待機中で、{ready} 以降に完了できます。心当たりがない場合はキャンセル：',
    recovery_cancelled: '{app}：アカウントの復旧はキャンセルされました。',
    recovery_completed:
      '{app}：アカウントの復旧が完了しました。心当たりがない場合は、すぐに {app} にお問い合わせください。',
    account_reset:
      '{app}：サポート担当者がアカウントの確認方法をリセットしました。心当たりがない場合は、すぐに {app} にお問い合わせください。',
  },
}
