import type { MessageTexts } from '../message-texts.js'

export const ja: MessageTexts = {
  purposes: {
    'sign-in': 'ログイン用',
    'step-up': '操作の確認用',
    enrollment: 'ログイン方法の設定用',
  },
  code: {
    subject: '{code} は {app} の確認コードです',
    text: '{code} は {app} の{purpose}コードです。有効期限は{minutes}です。誰にも教えないでください。',
    call: 'こんにちは。{app} の{purpose}コードは {code} です。繰り返します。{code}。誰にも教えないでください。失礼いたします。',
  },
  backup: {
    subject: '{app} のバックアップコード',
    text: '{app} のバックアップコード:\n\n{codes}\n\n各コードは 1 回だけ使えます。安全な場所に保管し、誰にも教えないでください。以前のコードは使えなくなりました。',
  },
  notices: {
    locked: {
      subject: '{app} のアカウントで誤ったコードが入力されました',
      text: '{app} のアカウントで誤ったコードが何度も入力されたため、アカウントは{minutes}ロックされます。心当たりがない場合は、パスワードが他人に知られている可能性があります。パスワードを変更してください。',
    },
    'app-bound': {
      subject: '{app} のアカウントに認証アプリが追加されました',
      text: '{app} のアカウントに認証アプリが設定されました。心当たりがない場合は、パスワードを変更し、{app} にお問い合わせください。',
    },
    'backup-made': {
      subject: '{app} の新しいバックアップコード',
      text: '{app} のアカウントの新しいバックアップコードが作成されました。以前のコードは使えなくなりました。心当たりがない場合は、パスワードを変更し、{app} にお問い合わせください。',
    },
    'backup-used': {
      subject: '{app} のバックアップコードが使用されました',
      text: '{app} のアカウントのバックアップコードが使用されました。心当たりがない場合は、パスワードを変更し、{app} にお問い合わせください。',
    },
  },
}
