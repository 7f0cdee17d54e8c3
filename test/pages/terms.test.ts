import { describe, expect, it } from 'vitest'
import { textsIn } from '../../service/src/message-texts/catalogue.js'
import { noticeCatalogues } from '../../src/notices/compose.js'
import { catalogues } from '../../src/pages/text.js'
import { TRANSLATIONS } from '../../src/pages/translations.js'
import { languageKey } from '../../src/protocol/language.js'

/** The term of each language for a thing, without endings that change: those that Google and Apple use in their pages. */
interface Terms {
  readonly authenticatorApp: RegExp
  readonly backupCode: RegExp
  readonly verificationCode: RegExp
  readonly twoStep: RegExp
  readonly trusted: RegExp
  readonly password: RegExp
}

const TERMS: Readonly<Record<string, Terms>> = {
  ar: {
    authenticatorApp: /تطبيق (ال)?مصادقة/,
    backupCode: /(رموز\S*|(ال)?رمز) (ال)?احتياطي/,
    verificationCode: /رمز (ال)?تحقق/,
    twoStep: /التحقق بخطوتين/,
    trusted: /(ال)?موثوق/,
    password: /كلمة (ال)?مرور/,
  },
  de: {
    authenticatorApp: /Authenticator.App/,
    backupCode: /Backup-Code/,
    verificationCode: /Bestätigungscode/,
    twoStep: /Bestätigung in zwei Schritten/,
    trusted: /vertrau/,
    password: /Passwort/,
  },
  en: {
    authenticatorApp: /authenticator app/,
    backupCode: /backup code/,
    verificationCode: /verification code/,
    twoStep: /two-step verification/,
    trusted: /trusted/,
    password: /password/,
  },
  es: {
    authenticatorApp: /aplicación de autenticación/,
    backupCode: /códigos? de respaldo/,
    verificationCode: /código de verificación/,
    twoStep: /verificación en dos pasos/,
    trusted: /de confianza/,
    password: /contraseña/,
  },
  fr: {
    authenticatorApp: /application d’authentification/,
    backupCode: /codes? de secours/,
    verificationCode: /code de validation/,
    twoStep: /validation en deux étapes/,
    trusted: /de confiance/,
    password: /mot de passe/,
  },
  it: {
    authenticatorApp: /app di autenticazione/,
    backupCode: /codic[ei] di backup/,
    verificationCode: /codice di verifica/,
    twoStep: /verifica in due passaggi/,
    trusted: /attendibil/,
    password: /password/,
  },
  ja: {
    authenticatorApp: /認証アプリ/,
    backupCode: /バックアップコード/,
    verificationCode: /確認コード/,
    twoStep: /2段階認証/,
    trusted: /信頼/,
    password: /パスワード/,
  },
  ko: {
    authenticatorApp: /인증 앱/,
    backupCode: /백업 코드/,
    verificationCode: /인증 코드/,
    twoStep: /2단계 인증/,
    trusted: /신뢰할 수 있는/,
    password: /비밀번호/,
  },
  nl: {
    authenticatorApp: /authenticator-app/,
    backupCode: /back-upcode/,
    verificationCode: /verificatiecode/,
    twoStep: /verificatie in twee stappen/,
    trusted: /vertrouwd/,
    password: /wachtwoord/,
  },
  pl: {
    authenticatorApp: /aplikacj\S+ uwierzytelniając/,
    backupCode: /kod\S* zapasow/,
    verificationCode: /kod\S* weryfikacyjn/,
    twoStep: /weryfikacj\S+ dwuetapow/,
    trusted: /zaufan/,
    password: /hasł/,
  },
  'pt-BR': {
    authenticatorApp: /app autenticador/,
    backupCode: /códigos? de backup/,
    verificationCode: /código de verificação/,
    twoStep: /verificação em duas etapas/,
    trusted: /de confiança/,
    password: /senha/,
  },
  'pt-PT': {
    authenticatorApp: /app de autenticação/,
    backupCode: /códigos? alternativos?/,
    verificationCode: /código de validação/,
    twoStep: /validação em dois passos/,
    trusted: /fidedigno/,
    password: /palavra-passe/,
  },
  tr: {
    authenticatorApp: /kimlik doğrulama uygulama/,
    backupCode: /yedek kod/,
    verificationCode: /doğrulama kodu/,
    twoStep: /iki adımlı doğrulama/,
    trusted: /güvenilen/,
    password: /şifre/,
  },
  'zh-Hans': {
    authenticatorApp: /身份验证器应用/,
    backupCode: /备用验证码/,
    verificationCode: /验证码/,
    twoStep: /两步验证/,
    trusted: /受信任/,
    password: /密码/,
  },
}

describe.each(['en', ...TRANSLATIONS])('pages, notices and messages in %s', (tag) => {
  const pages = catalogues.get(languageKey(tag))?.()
  const notices = noticeCatalogues.get(languageKey(tag))?.()
  const messages = textsIn(tag)

  it.each<[keyof Terms, readonly (string | undefined)[]]>([
    [
      'authenticatorApp',
      [
        pages?.choose.act.app,
        pages?.choose.phoneHint,
        pages?.enroll.title,
        pages?.enroll.stepOpen,
        pages?.enroll.qrAlt,
        pages?.overview.method.app,
        pages?.overview.enroll,
        pages?.overview.replace,
        pages?.problems.enrollment_required.advice,
        messages.notices['app-bound'].subject,
        messages.notices['app-bound'].text,
      ],
    ],
    [
      'backupCode',
      [
        pages?.choose.backup,
        pages?.code.title.backup,
        pages?.code.labelBackup,
        pages?.backup.title,
        pages?.backup.sentTitle,
        pages?.codesLeft.left.other,
        pages?.codesLeft.zero,
        pages?.overview.backup,
        notices?.subject.backup_codes_sent,
        notices?.what.backup_code_used,
        messages.backup.subject,
        messages.backup.text,
        messages.notices['backup-made'].subject,
        messages.notices['backup-used'].text,
      ],
    ],
    [
      'verificationCode',
      [pages?.code.label, pages?.code.sent.sms, pages?.code.sent.email, pages?.code.queued],
    ],
    ['twoStep', [pages?.grace, pages?.overview.none, pages?.problems.enrollment_required.title]],
    ['trusted', [pages?.devices.title, pages?.success.devices_revoked, notices?.subject.device_trusted]],
    ['password', [pages?.notMe.next, notices?.thenPassword, messages.notices.locked.text]],
  ])('use one term: %s', (term, texts) => {
    const terms = TERMS[tag]?.[term]
    if (terms === undefined) throw new Error(`There are no terms for ${tag}.`)
    for (const text of texts) expect(text).toMatch(new RegExp(terms, 'iu'))
  })
})
