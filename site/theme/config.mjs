import { readFileSync } from 'node:fs'
import { defineConfig } from 'vitepress'
import { slugOf } from './slug.mjs'

const read = (file) => readFileSync(new URL(file, import.meta.url), 'utf8')
const { base, sidebar } = JSON.parse(read('site.json'))

/** Gives each cell the heading of its column: on a phone, rows are cards, and browsers then drop the roles of a table. */
function labelCells(md) {
  md.renderer.rules.table_open = () => '<div class="table" tabindex="0"><table role="table">\n'
  md.renderer.rules.table_close = () => '</table></div>\n'
  md.core.ruler.push('cell labels', ({ tokens }) => {
    const roles = { thead: 'rowgroup', tbody: 'rowgroup', tr: 'row', th: 'columnheader', td: 'cell' }
    let labels = []
    let column = 0
    for (const [index, token] of tokens.entries()) {
      if (token.type === 'table_open') labels = []
      // A heading without text names nothing.
      if (/^th_/.test(token.type) && tokens[index + token.nesting].content === '') token.tag = 'td'
      if (token.type === 'tr_open') column = 0
      if (token.nesting === 1 && roles[token.tag]) token.attrSet('role', roles[token.tag])
      if (token.type === 'th_open') labels.push(tokens[index + 1].content)
      if (token.type === 'td_open') token.attrSet('data-label', labels[column++] ?? '')
    }
  })
}

/**
 * Ranks pages above what is only looked up: pages that repeat a section of another one, and tables that are generated from tests and
 * measurements, or of standards, which match many words and explain none. The browser gets this function as text.
 */
function boostDocument(id, term) {
  if (/security\/(?:requirements-tests|standards)|\/bench\/|\/CHANGELOG|\/decisions\//.test(id)) return 0.05
  // The section has the name of its option.
  if (term === 'rate' && /\/docs\/options\.html#limits$/.test(id)) return 20
  return /\/docs\/(?:problems|thrown|warnings)\/|\/docs\/security\/(?:requirements|asked)|\/CONTRIBUTING/.test(
    id,
  )
    ? 0.4
    : 1
}

export default defineConfig({
  title: 'Countersign',
  description:
    'Multi-factor authentication for Express apps that already have their own users, session and Passport login',
  lang: 'en',
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: `${base}logo.svg` }]],
  // A server of files has no rules that add an extension.
  cleanUrls: false,
  // Every link of the documents leads somewhere, also on the site. Addresses of the reader's machine are no pages.
  ignoreDeadLinks: 'localhostLinks',
  markdown: {
    anchor: { slugify: slugOf },
    attrs: { leftDelimiter: '{', rightDelimiter: '}', allowedAttributes: ['class'] },
    config: labelCells,
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  themeConfig: {
    logo: '/logo.svg',
    search: {
      provider: 'local',
      options: { detailedView: true, miniSearch: { searchOptions: { boostDocument } } },
    },
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
