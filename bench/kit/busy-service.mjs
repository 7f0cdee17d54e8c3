import { SLOT_MS, SLOTS } from '../../service/dist/parts.js'
import { script } from './postgres.mjs'

/** The application that has most of the messages. */
export const BUSY = 'default'

/** The name of one of the many applications. */
export const nameOf = (n) => `app-${String(n).padStart(5, '0')}`

const NAME = "'app-' || lpad(n::text, 5, '0')"

/**
 * Fills a database with `applications`, each with keys, traffic, counters and an audit log, and spreads `messages` over them.
 * What it holds already is kept.
 */
export async function loadBusyService(url, applications, messages) {
  const { rows } = await script(url, `SELECT FROM application WHERE application = '${nameOf(applications)}'`)
  if (rows.length > 0) return
  const series = (last) => `generate_series(1, ${last}) AS n`
  const now = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint'
  const statements = [
    `INSERT INTO application (application, created_at, settings)
     SELECT ${NAME}, ${now}, json_build_object('name', 'Application ' || n, 'countries', json_build_array('GB'))::text
     FROM ${series(applications)}`,
    `INSERT INTO api_key (application, id, hash, mode, label, hint, scopes, created_at)
     SELECT ${NAME}, 'key_' || n || mode, md5(n || mode), mode, '', 'mfa', '{verify,enroll,read}', ${now}
     FROM ${series(applications)}, unnest(ARRAY['live', 'test']) AS mode`,
    // The first of these applications has most of the traffic to phones.
    `INSERT INTO phone_traffic (application, scope, key, day, sent, typed)
     SELECT CASE WHEN n % 10 = 0 THEN '${BUSY}' ELSE ${NAME} END, 'prefix', '+4474' || n, ${now} / 86400000, 10, 9
     FROM ${series(applications * 2)}`,
    // Hours of two days and days of a month, for two countries of each application.
    `INSERT INTO activity (application, starts_at, method, country, carrier, sent, codes, typed)
     SELECT ${NAME}, CASE WHEN step < 48 THEN ${now} / 3600000 * 3600000 - step * 3600000::bigint
       ELSE ${now} / 86400000 * 86400000 - (step - 46) * 86400000::bigint END, 'sms', country, 'twilio', 10, 10, 9
     FROM ${series(applications)}, generate_series(1, 77) AS step, unnest(ARRAY['GB', 'DE']) AS country
     WHERE n % 10 < 3 ON CONFLICT DO NOTHING`,
    `INSERT INTO activity (application, starts_at, method, country, carrier, sent, codes, typed)
     SELECT application, starts_at, method, country, carrier, 1000, 1000, 900 FROM (VALUES (''), ('${BUSY}')) AS a (application),
       (SELECT DISTINCT starts_at FROM activity) AS steps, unnest(ARRAY['sms', 'whatsapp', 'call']) AS method,
       (SELECT DISTINCT chr(65 + n / 26) || chr(65 + n % 26) AS country FROM generate_series(0, 99) AS n) AS countries,
       unnest(ARRAY['twilio', 'vonage']) AS carrier`,
    `INSERT INTO audit (application, at, who, action, detail)
     SELECT 'app-' || lpad((1 + n % ${applications})::text, 5, '0'), ${now} - n * 1000::bigint,
       'operator' || n % 50 || '@example.com', CASE WHEN n % 1000 = 0 THEN 'webhook.set' ELSE 'key.created' END, 'x'
     FROM ${series(applications * 30)}`,
    `INSERT INTO outbox (application, account, id, slot, channel, masked, state, carrier, expires_at, created_at,
       updated_at, settled_at, attempts)
     SELECT 'app-' || lpad((1 + n % ${applications})::text, 5, '0'), 'account:' || n, md5(n::text), (at / ${SLOT_MS} % ${SLOTS})::smallint,
       'sms', '••• 01', CASE WHEN n % 50 = 0 THEN 'failed' ELSE 'sent' END, 'twilio', at, at, at, at, 1
     FROM ${series(messages)}, LATERAL (SELECT ${now} - (n % 600) * 1000000::bigint AS at) AS time`,
    'VACUUM ANALYZE',
  ]
  for (const statement of statements) await script(url, statement)
}
