import { describe, expect, it } from 'vitest'
import { browserName } from '../../src/stores/trust/browser-name.js'
import { everyCase } from '../kit/every-case.js'

describe('the name of a browser', () => {
  it('is derived from the User-Agent header', () =>
    everyCase(
      [
        [
          'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0',
          'Firefox',
          'Windows',
        ],
        [
          'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15',
          'Safari',
          'Mac',
        ],
        [
          'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/139.0.0.0 Safari/537.36 Edg/139.0.0.0',
          'Edge',
          'Windows',
        ],
        [
          'Mozilla/5.0 (Linux; Android 14; SM-S911B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/25.0 Chrome/121.0.0.0 Mobile Safari/537.36',
          'Samsung Internet',
          'Android',
        ],
        [
          'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/130.0.6723.90 Mobile/15E148 Safari/604.1',
          'Chrome',
          'iPhone',
        ],
        [
          'Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 Chrome/139.0.0.0 Safari/537.36',
          'Chrome',
          'ChromeOS',
        ],
        ['Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 HeadlessChrome/139.0.0.0', 'Chrome', 'Linux'],
        ['curl/8.5.0', undefined, undefined],
        ['<script>alert(1)</script>', undefined, undefined],
        [`${'x'.repeat(100_000)} Firefox/1`, undefined, undefined],
        [undefined, undefined, undefined],
      ],
      ([userAgent, browser, system]) => {
        const { browser: found, system: on } = browserName(userAgent)
        expect([found, on]).toEqual([browser, system])
      },
    ))
})
