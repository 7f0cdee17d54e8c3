import { figure } from '../kit/comparison.mjs'

export const title = 'The service: a wrong code for users it knows and does not know'
export const meaning = `Medians of wrong codes for users that are known and unknown, asked in turn without HTTP. A ratio near 1 tells nobody who has an
account.`

export async function run(bench) {
  const app = await bench.start('service-in-process', { env: { NODE_ENV: 'development' } })
  const rounds = bench.isQuick ? 100 : 300
  const ratios = await app.ask('compare', rounds)
  return Object.entries(ratios).map(([factor, { knownMs, unknownMs }]) =>
    figure(
      `service: a wrong ${factor} of an unknown user, beside a known one`,
      Number((unknownMs / knownMs).toFixed(2)),
      '×',
      {
        note: `${unknownMs.toFixed(2)} ms beside ${knownMs.toFixed(2)} ms`,
      },
    ),
  )
}
