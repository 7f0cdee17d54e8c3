import { describe, expect, it } from 'vitest'
import { loadTexts } from '../../service/src/messages/texts/catalogue.js'
import { noticeCatalogues } from '../../src/pages/notices/compose.js'
import { catalogues, TRANSLATIONS } from '../../src/pages/text.js'
import { languageKey } from '../../src/protocol/language.js'
import { everyCase } from '../kit/every-case.js'

/** The term of each language for a thing, without endings that change: those that Google and Apple use in their pages. */
interface Terms {
  readonly authenticatorApp: RegExp
  readonly backupCode: RegExp
  readonly verificationCode: RegExp
  readonly twoStep: RegExp
  readonly trusted: RegExp
  readonly password: RegExp
  readonly passkey: RegExp
  readonly securityKey: RegExp
}

const TERMS: Readonly<Record<string, Terms>> = {
  ar: {
    authenticatorApp: /تطبيق (ال)?مصادقة/,
    backupCode: /(رموز\S*|(ال)?رمز) (ال)?احتياطي/,
    verificationCode: /رمز (ال)?تحقق/,
    twoStep: /التحقق بخطوتين/,
    trusted: /(ال)?موثوق/,
    password: /كلمة (ال)?مرور/,
    passkey: /مفاتيح (ال)?مرور|مفتاح (ال)?مرور/,
    securityKey: /مفاتيح (ال)?أمان|مفتاح (ال)?أمان/,
  },
  de: {
    authenticatorApp: /Authenticator.App/,
    backupCode: /Backup-Code/,
    verificationCode: /Bestätigungscode/,
    twoStep: /Bestätigung in zwei Schritten/,
    trusted: /vertrau/,
    password: /Passwort/,
    passkey: /Passkey/,
    securityKey: /Sicherheitsschlüssel/,
  },
  en: {
    authenticatorApp: /authenticator app/,
    backupCode: /backup code/,
    verificationCode: /verification code/,
    twoStep: /two-step verification/,
    trusted: /trusted/,
    password: /password/,
    passkey: /passkey/,
    securityKey: /security key/,
  },
  es: {
    authenticatorApp: /aplicación de autenticación/,
    backupCode: /códigos? de respaldo/,
    verificationCode: /código de verificación/,
    twoStep: /verificación en dos pasos/,
    trusted: /de confianza/,
    password: /contraseña/,
    passkey: /llaves? de acceso/,
    securityKey: /llaves? de seguridad/,
  },
  fr: {
    authenticatorApp: /application d’authentification/,
    backupCode: /codes? de secours/,
    verificationCode: /code de validation/,
    twoStep: /validation en deux étapes/,
    trusted: /de confiance/,
    password: /mot de passe/,
    passkey: /clés? d’accès/,
    securityKey: /clés? de sécurité/,
  },
  it: {
    authenticatorApp: /app di autenticazione/,
    backupCode: /codic[ei] di backup/,
    verificationCode: /codice di verifica/,
    twoStep: /verifica in due passaggi/,
    trusted: /attendibil/,
    password: /password/,
    passkey: /passkey/,
    securityKey: /token di sicurezza/,
  },
  ja: {
    authenticatorApp: /認証アプリ/,
    backupCode: /バックアップコード/,
    verificationCode: /確認コード/,
    twoStep: /2段階認証/,
    trusted: /信頼/,
    password: /パスワード/,
    passkey: /パスキー/,
    securityKey: /セキュリティキー/,
  },
  ko: {
    authenticatorApp: /인증 앱/,
    backupCode: /백업 코드/,
    verificationCode: /인증 코드/,
    twoStep: /2단계 인증/,
    trusted: /신뢰할 수 있는/,
    password: /비밀번호/,
    passkey: /패스키/,
    securityKey: /보안 키/,
  },
  nl: {
    authenticatorApp: /authenticator-app/,
    backupCode: /back-upcode/,
    verificationCode: /verificatiecode/,
    twoStep: /verificatie in twee stappen/,
    trusted: /vertrouwd/,
    password: /wachtwoord/,
    passkey: /toegangssleutel/,
    securityKey: /beveiligingssleutel/,
  },
  pl: {
    authenticatorApp: /aplikacj\S+ uwierzytelniając/,
    backupCode: /kod\S* zapasow/,
    verificationCode: /kod\S* weryfikacyjn/,
    twoStep: /weryfikacj\S+ dwuetapow/,
    trusted: /zaufan/,
    password: /hasł/,
    passkey: /klucz\S* dostępu/,
    securityKey: /klucz\S* bezpieczeństwa/,
  },
  'pt-BR': {
    authenticatorApp: /app autenticador/,
    backupCode: /códigos? de backup/,
    verificationCode: /código de verificação/,
    twoStep: /verificação em duas etapas/,
    trusted: /de confiança/,
    password: /senha/,
    passkey: /chaves? de acesso/,
    securityKey: /chaves? de segurança/,
  },
  'pt-PT': {
    authenticatorApp: /app de autenticação/,
    backupCode: /códigos? alternativos?/,
    verificationCode: /código de validação/,
    twoStep: /validação em dois passos/,
    trusted: /fidedigno/,
    password: /palavra-passe/,
    passkey: /chaves? de acesso/,
    securityKey: /chaves? de segurança/,
  },
  tr: {
    authenticatorApp: /kimlik doğrulama uygulama/,
    backupCode: /yedek kod/,
    verificationCode: /doğrulama kodu/,
    twoStep: /iki adımlı doğrulama/,
    trusted: /güvenilen/,
    password: /şifre/,
    passkey: /geçiş anahtar/,
    securityKey: /güvenlik anahtar/,
  },
  'zh-Hans': {
    authenticatorApp: /身份验证器应用/,
    backupCode: /备用验证码/,
    verificationCode: /验证码/,
    twoStep: /两步验证/,
    trusted: /受信任/,
    password: /密码/,
    passkey: /通行密钥/,
    securityKey: /安全密钥/,
  },
}

/** The texts in which a term occurs. */
function textsByTerm(tag: string): readonly [keyof Terms, readonly (string | undefined)[]][] {
  const pages = catalogues.get(languageKey(tag))?.()
  const notices = noticeCatalogues.get(languageKey(tag))?.()
  const messages = loadTexts(tag)

  return [
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
        pages?.weakApp,
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
    [
      'passkey',
      [
        pages?.choose.act.passkey,
        pages?.overview.method.passkey,
        pages?.keys.title,
        pages?.keys.none,
        pages?.keys.add.passkey,
        pages?.keys.phishing,
        pages?.keys.offerLead,
        pages?.keys.failures.wrong_site.advice,
      ],
    ],
    [
      'securityKey',
      [
        pages?.choose.act['security-key'],
        pages?.overview.method['security-key'],
        pages?.keys.lead['security-key'],
        pages?.keys.title,
        pages?.keys.add['security-key'],
      ],
    ],
    ['password', [pages?.notMe.next, notices?.thenPassword, messages.notices.locked.text]],
  ]
}

describe('pages, notices and messages', () => {
  it('use one term in each language', () =>
    everyCase(['en', ...TRANSLATIONS], (tag) =>
      everyCase(textsByTerm(tag), ([term, texts]) => {
        const terms = TERMS[tag]?.[term]
        if (terms === undefined) throw new Error(`There are no terms for ${tag}.`)
        for (const text of texts) expect(text).toMatch(new RegExp(terms, 'iu'))
      }),
    ))

  it('say “trust” and “browser” of what is not asked for a second step, in English', () => {
    const english = JSON.stringify([catalogues.get('en')?.(), noticeCatalogues.get('en')?.()])
    expect(english).toContain('Trust this browser for {time}')
    expect(english).toContain('Trusted browsers')
    expect(english).not.toMatch(/trusted device|ask again|remember this/i)
  })
})
