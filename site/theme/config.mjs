import { readFileSync } from 'node:fs'
import { defineConfig } from 'vitepress'

const sidebar = JSON.parse(readFileSync(new URL('sidebar.json', import.meta.url), 'utf8'))

export default defineConfig({
  title: 'Countersign',
  description:
    'Multi-factor authentication for Express apps that already have their own users, session and Passport login',
  lang: 'en',
  // A server of files has no rules that add an extension.
  cleanUrls: false,
  // Every link of the documents leads somewhere, also on the site. Addresses of the reader's machine are no pages.
  ignoreDeadLinks: 'localhostLinks',
  markdown: { attrs: { leftDelimiter: '{', rightDelimiter: '}', allowedAttributes: ['class'] } },
  themeConfig: {
    search: { provider: 'local', options: { detailedView: true } },
    outline: 'deep',
    nav: [
      { text: 'Get started', link: '/docs/getting-started.html' },
      { text: 'Does it fit?', link: '/docs/does-it-fit.html' },
      { text: 'Pictures', link: '/docs/pictures.html' },
      { text: 'Troubleshooting', link: '/docs/troubleshooting.html' },
    ],
    sidebar,
  },
})
