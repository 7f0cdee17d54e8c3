import { Router } from 'express'
import * as z from 'zod'
import type { VaultContext } from '../context.js'
import { backToForm } from '../http/back-to-form.js'
import { readBody } from '../http/body.js'
import { frameOf } from '../http/frame.js'
import { wantsJson } from '../http/negotiate.js'
import { Problem } from '../http/problem.js'
import { ownScripts } from '../http/security-headers.js'
import { customer, signedIn } from '../http/signed-in.js'
import { type Language, nearestLanguage } from '../language.js'
import { takePageMessage } from '../session.js'
import { money } from '../views/format.js'
import { vaultPage } from '../views/vault-page.js'

const MAX_AMOUNT = 1_000_000_000
const wholeDollars = `must be a whole number of dollars from 1 to ${MAX_AMOUNT}`

/** The label of the field on the page that offers an interrupted withdrawal again, in the languages of that page. */
const AMOUNT: Readonly<Record<Language, string>> = {
  en: 'Withdraw, in dollars',
  de: 'Auszahlen, in Dollar',
  es: 'Retirar, en dólares',
  fr: 'Retirer, en dollars',
  it: 'Preleva, in dollari',
  nl: 'Opnemen, in dollars',
  pl: 'Kwota wypłaty w dolarach',
  'pt-BR': 'Sacar, em dólares',
  'pt-PT': 'Levantar, em dólares',
  tr: 'Çekilecek tutar (dolar)',
  ar: 'المبلغ المراد سحبه بالدولار',
  ko: '출금액(달러)',
  'zh-Hans': '取款金额（美元）',
  ja: '出金額（ドル）',
}

/** The lines that the user approves; the sum follows. */
const WITHDRAW: Readonly<Record<Language, string>> = {
  en: 'Withdraw',
  de: 'Auszahlen',
  es: 'Retirar',
  fr: 'Retirer',
  it: 'Preleva',
  nl: 'Opnemen',
  pl: 'Wypłata',
  'pt-BR': 'Sacar',
  'pt-PT': 'Levantar',
  tr: 'Para çekme',
  ar: 'سحب',
  ko: '출금',
  'zh-Hans': '取款',
  ja: '出金',
}

/** The title of the page that offers an interrupted withdrawal again. */
const CONFIRM_WITHDRAWAL: Readonly<Record<Language, string>> = {
  en: 'Confirm your withdrawal',
  de: 'Auszahlung bestätigen',
  es: 'Confirma tu retirada',
  fr: 'Confirmez votre retrait',
  it: 'Conferma il prelievo',
  nl: 'Bevestig je opname',
  pl: 'Potwierdź wypłatę',
  'pt-BR': 'Confirme seu saque',
  'pt-PT': 'Confirme o levantamento',
  tr: 'Para çekme işlemini onaylayın',
  ar: 'تأكيد السحب',
  ko: '출금 확인',
  'zh-Hans': '确认取款',
  ja: '出金の確認',
}

const withdrawal = z.object({
  // A form sends digits, JSON a number.
  amount: z
    .union(
      [
        z.number(),
        z
          .string()
          .regex(/^\d{1,10}$/)
          .transform(Number),
      ],
      { error: wholeDollars },
    )
    .refine((amount) => Number.isInteger(amount) && amount >= 1 && amount <= MAX_AMOUNT, {
      error: wholeDollars,
    }),
})

/** The same card for everyone: its number is that of a test card. */
const CARD = '4242 4242 4242 4242'

/** `GET /vault`, `POST /vault/withdraw`, `POST /vault/card` */
export function vaultRoutes(context: VaultContext): Router {
  const { config, ledger, mfa, streamOrigin } = context
  const router = Router()

  router.get('/vault', signedIn, ownScripts(streamOrigin), async (req, res) => {
    const user = customer(req)
    const balance = await ledger.balance(user.id)
    if (wantsJson(req)) {
      res.json({ balance })
      return
    }
    const movements = await ledger.movements(user.id)
    const message = takePageMessage(req)
    res.send(vaultPage({ user, balance, movements, message, frame: frameOf(req, context) }))
  })

  router.post(
    '/vault/withdraw',
    signedIn,
    // The user is asked to approve only what can be paid.
    (req, _res, next) => {
      readBody(req, withdrawal)
      next()
    },
    // A factor approves this amount, once. Afterwards the user can send it again with one click.
    mfa.requireMfa({
      bind: ['amount'],
      bindText: ({ amount }, locale) => [
        { label: WITHDRAW[nearestLanguage([locale])], value: money(Number(amount)) },
      ],
      resume: [{ name: 'amount', label: AMOUNT }],
      resumeTitle: CONFIRM_WITHDRAWAL,
    }),
    async (req, res) => {
      const { amount } = readBody(req, withdrawal)
      const balance = await ledger.withdraw(customer(req).id, amount)
      if (balance === undefined) throw new Problem('insufficient_funds', `You do not have ${money(amount)}.`)
      if (wantsJson(req)) {
        res.json({ balance })
        return
      }
      req.session.pageMessage = { tone: 'success', text: `${money(amount)} is on its way to you.` }
      res.redirect(303, '/vault')
    },
  )

  // The page asks for it with `withStepUp`, which repeats the request after the second factor.
  router.post('/vault/card', signedIn, mfa.requireMfa({ maxAge: config.stepUpMaxAge }), (_req, res) => {
    res.json({ number: CARD })
  })

  router.use('/vault/withdraw', backToForm('/vault'))

  // The page of a step-up or error has this address; loading it again, or choosing a language on it, is a GET.
  router.get('/vault/withdraw', (_req, res) => res.redirect(303, '/vault'))

  return router
}
