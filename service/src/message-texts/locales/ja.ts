import type { Texts } from '../texts.js'

export const ja: Texts = {
  purposes: {
    'sign-in': 'サインイン用',
    'step-up': '操作の確認用',
    enrolment: 'サインイン方法の設定用',
  },
  code: {
    subject: '{code} は {app} のコードです',
    text: '{code} は {app} の{purpose}コードです。有効期間は{minutes}です。誰にも教えないでください。',
    call: 'こんにちは。{app} の{purpose}コードは {code} です。繰り返します。{code}。誰にも教えないでください。失礼いたします。',
  },
  backup: {
    subject: '{app} のバックアップコード',
    text: '{app} のバックアップコード:\n\n{codes}\n\n各コードは一度だけ使えます。安全に保管し、誰にも教えないでください。以前のコードは使えなくなりました。',
  },
  notices: {
    locked: {
      subject: '{app} アカウントで誤ったコードが入力されました',
      text: '{app} のアカウントで誤ったコードが何度も入力されたため、{minutes}ロックされています。心当たりがない場合は、パスワードを知られています。変更してください。',
    },
    'app-bound': {
      subject: '{app} に認証アプリが追加されました',
      text: '{app} のアカウントに認証アプリが設定されました。心当たりがない場合は、パスワードを変更し、{app} にご連絡ください。',
    },
    'backup-made': {
      subject: '{app} の新しいバックアップコード',
      text: '{app} のアカウントに新しいバックアップコードが作成されました。以前のコードは使えません。心当たりがない場合は、パスワードを変更し、{app} にご連絡ください。',
    },
    'backup-used': {
      subject: '{app} のバックアップコードが使われました',
      text: '{app} のアカウントのバックアップコードが使われました。心当たりがない場合は、パスワードを変更し、{app} にご連絡ください。',
    },
  },
}
