/*
 * The pages of the site, from the documents of the repository: each document as it is, a page for each problem code, error and
 * warning, and one with a picture of every page that users see.
 */

import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { slugOf } from './theme/slug.mjs'

const ROOT = new URL('../', import.meta.url)
const read = (path) => readFileSync(new URL(path, ROOT), 'utf8')

/** The files under version control, and those that will be. */
const files = () =>
  execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 10_000_000,
  })
    .split('\0')
    .filter(Boolean)

/** Documents that are no pages: the index is made anew, and templates are read by scripts. */
const NO_PAGE = /\.template\.md$|^(?:test|scripts|bench\/plans)\//

/** Where a document is on the site, without the extension: `docs/README.md` is `docs/index`. */
const pageOf = (path) => path.replace(/\.md$/, '').replace(/(^|\/)(?:README|SKILL)$/, '$1index')

/** Replaces links outside of blocks of code. */
function mapLinks(markdown, map) {
  return markdown
    .split(/^(```[\s\S]*?^```)$/m)
    .map((part, index) =>
      index % 2 === 1
        ? part
        : part.replaceAll(/(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)/g, (all, image, text, target) =>
            /^[a-z]+:/.test(target) ? all : map({ image, text, target }),
          ),
    )
    .join('')
}

/**
 * A document whose links lead to pages of the site. The site has no sources: what links to one, or to a folder, becomes its text.
 * Pictures and schemas are files of the site.
 */
function linked(markdown, path, pages, assets) {
  return mapLinks(markdown, ({ image, text, target }) => {
    const [file = '', anchor] = target.split('#')
    const hash = anchor === undefined ? '' : `#${anchor}`
    if (file === '') return `${image}[${text}](${target})`
    const found = posix.normalize(posix.join(posix.dirname(path), file))
    if (pages.has(found)) return `[${text}](/${pageOf(found)}.md${hash})`
    if (/\.(?:png|webp|json|txt)$/.test(found)) {
      assets.add(found)
      // A file of the site is no page, so its address needs the base, which only a template knows.
      return image ? `![${text}](/${found})` : `<a :href="withBase('/${found}')">${inline(text)}</a>`
    }
    return text
  })
}

/** The text of a link as HTML; the documents use code words only. */
const inline = (text) => text.replaceAll(/`([^`]+)`/g, '<code>$1</code>')

/** For a page that is looked up, not read in an order. */
const ALONE = '---\nprev: false\nnext: false\n---\n\n'

const SCRIPT = `\n<script setup>\nimport { withBase } from 'vitepress'\n</script>\n`

/** The sections of a document below headings of this level, with the text of each. */
const sectionsOf = (markdown, level) =>
  markdown
    .split(new RegExp(`^${'#'.repeat(level)} (?!#)`, 'm'))
    .slice(1)
    .map((part) => {
      const end = part.indexOf('\n')
      const body = part.slice(end).split(/^#{1,6} /m)[0] ?? ''
      return { heading: part.slice(0, end).trim(), body: body.trim() }
    })

/** A page for each problem code and error, from `docs/errors.md`, and for each warning, from `docs/diagnostics.md`. */
function referencePages() {
  const [responses = '', errors = ''] = read('docs/errors.md').split(/^## Errors$/m)
  const problems = sectionsOf(responses, 3).map(({ heading, body }) => ({
    path: `docs/problems/${heading}.md`,
    source: 'docs/errors.md',
    title: heading,
    text: `# ${heading}\n\nA [problem code](errors.md#${heading}) of a response.\n\n${body.replace(/^([\d, ]+)\. /, 'HTTP status $1. ')}\n`,
  }))
  const thrown = [...errors.matchAll(/^\| `(\w+)` \| `(\w+)` \| (.+) \|$/gm)].map(
    ([, code = '', name = '', meaning = '']) => ({
      path: `docs/thrown/${code}.md`,
      source: 'docs/errors.md',
      title: code,
      text: `# ${code}\n\nThe code of a \`${name}\`, one of the [errors](errors.md#errors) that are thrown at start or passed to Express.\n\n${meaning[0]?.toUpperCase()}${meaning.slice(1)}.\n`,
    }),
  )
  const warnings = sectionsOf(read('docs/diagnostics.md'), 2)
    .filter(({ heading }) => heading.startsWith('MFA_WARN_'))
    .map(({ heading, body }) => ({
      path: `docs/warnings/${heading}.md`,
      source: 'docs/diagnostics.md',
      title: heading,
      text: `# ${heading}\n\nA [warning](diagnostics.md#${slugOf(heading)}) in the log.\n\n${body}\n`,
    }))
  return { problems, thrown, warnings }
}

/** What each picture in `docs/images/pages` shows, from its name: `code-by-sms` is "Code by SMS". */
const captionOf = (name) =>
  `${name[0]?.toUpperCase()}${name.slice(1)}`
    .replaceAll('-', ' ')
    .replace(/\bsms\b/, 'SMS')
    .replace(/\bapp\b/, 'authenticator app')

/** The pictures in the order in which a user meets their pages: at a sign-in, in an approval, and when changing factors. Others follow. */
const IN_ORDER =
  'choose-a-factor code-by-sms code-of-an-app passkey backup-code trust-this-browser code-expired code-not-delivered locked offer-of-a-passkey few-backup-codes-left code-for-an-approval confirm-and-go-on overview-of-factors set-up-an-app scan-the-code app-is-set-up request-backup-codes backup-codes backup-codes-shown-before backup-codes-sent keys-and-passkeys remove-a-factor remove-a-key trusted-devices this-was-not-me account-is-secured request-a-recovery recovery-waits cancel-a-recovery recovery-canceled bypass-code'.split(
    ' ',
  )

/** A page with every page of the product, in the color scheme of the reader. */
function picturesPage(assets) {
  const found = readdirSync(new URL('docs/images/pages/', ROOT))
    .filter((file) => file.endsWith('-light.webp'))
    .map((file) => file.slice(0, -'-light.webp'.length))
  const names = [
    ...IN_ORDER.filter((name) => found.includes(name)),
    ...found.filter((name) => !IN_ORDER.includes(name)),
  ]
  const figures = names.map((name) => {
    const images = ['light', 'dark'].map((scheme) => {
      const file = `docs/images/pages/${name}-${scheme}.webp`
      assets.add(file)
      return `<img class="only-${scheme}" :src="withBase('/${file}')" alt="${captionOf(name)}" loading="lazy">`
    })
    return `<figure>${images.join('')}<figcaption>${captionOf(name)}</figcaption></figure>`
  })
  return {
    path: 'docs/pictures.md',
    source: 'docs/pictures.md',
    title: 'Pictures of all pages',
    text: `# Pictures of all pages\n\nWhat your users see, with the fonts of the machine on which the tests ran. You can give the pages [your style](options.md#your-own-pages)\nand change their [texts](options.md#texts).\n\n<div class="pictures">\n${figures.join('\n')}\n</div>\n`,
  }
}

/** The groups of the index, as a sidebar shows them. */
function sidebarOf(index, pages) {
  return sectionsOf(index, 2).map(({ heading, body }) => ({
    text: heading,
    collapsed: true,
    items: [...body.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)].flatMap(([, text = '', target = '']) => {
      const [file = '', anchor] = target.split('#')
      const found = posix.normalize(posix.join('docs', file))
      if (!pages.has(found)) return []
      const label = `${text[0]?.toUpperCase()}${text.slice(1)}`
      return [{ text: label, link: `/${pageOf(found)}.html${anchor === undefined ? '' : `#${anchor}`}` }]
    }),
  }))
}

/** The pages of the site, by their path; the other files that they show; and the sidebar. */
export function sitePages() {
  const documents = files().filter((path) => path.endsWith('.md') && !NO_PAGE.test(path))
  const assets = new Set([
    ...['docs/openapi.json', 'service/openapi.json', 'service/asyncapi.json'],
    // Those of the front page, which is no text with links.
    ...['docs/images/pages-light.png', 'docs/images/pages-dark.png'],
  ])
  const { problems, thrown, warnings } = referencePages()
  const made = [...problems, ...thrown, ...warnings, picturesPage(assets)]
  const pages = new Set([...documents, ...made.map(({ path }) => path)])
  const written = [
    ...documents.map((path) => ({ path, source: path, text: documentText(path) })),
    ...made,
    ...[
      { folder: 'problems', heading: 'Problem codes', list: problems },
      { folder: 'thrown', heading: 'Errors', list: thrown },
      { folder: 'warnings', heading: 'Warnings', list: warnings },
    ].map(({ folder, heading, list }) => ({
      path: `docs/${folder}/README.md`,
      source: `docs/${folder}/README.md`,
      text: `# ${heading}\n\n${list.map(({ title }) => `- [\`${title}\`](${title}.md)`).join('\n')}\n`,
    })),
  ]
  for (const { path } of written) pages.add(path)
  return {
    assets,
    sidebar: [
      ...sidebarOf(read('docs/README.md'), pages),
      {
        text: 'Look it up',
        collapsed: true,
        items: [
          { text: 'Problem codes', link: '/docs/problems/index.html' },
          { text: 'Errors', link: '/docs/thrown/index.html' },
          { text: 'Warnings', link: '/docs/warnings/index.html' },
          { text: 'Pictures of all pages', link: '/docs/pictures.html' },
        ],
      },
    ],
    pages: written.map(({ path, source, text }) => {
      const body = linked(text, source, pages, assets)
      const head = path === source ? '' : ALONE
      return {
        path: `${pageOf(path)}.md`,
        text: `${head}${body}${body.includes('withBase(') ? SCRIPT : ''}`,
      }
    }),
  }
}

/** A document; the one of the front page below what the site shows first. */
function documentText(path) {
  return path === 'README.md' ? landingPage(read(path)) : withPictures(read(path))
}

/** The front page: the first paragraph of the README with two buttons and its picture, then its first example and all the rest. */
function landingPage(readme) {
  const [, introduction = '', rest = ''] = /^# .+\n\n([\s\S]+?)\n\n([\s\S]+)$/.exec(readme) ?? []
  const [, picture = '', alt = ''] = PICTURE.exec(rest) ?? []
  const [, text = '', tagline = ''] = /^([\s\S]+?\.) ([\s\S]+)$/.exec(introduction) ?? []
  const [line = ''] = /^app\.use\(mfaRouter\(.*\)\)/m.exec(rest) ?? []
  const [, command = ''] = /^```sh\n(.+?) +#/m.exec(rest) ?? []
  // Without the name, which the bar above has, the promise is the headline.
  const hero = {
    text: flat(text),
    tagline: inline(flat(tagline)),
    image: { light: `/${picture}-light.png`, dark: `/${picture}-dark.png`, alt },
    actions: [
      { theme: 'brand', text: 'Get started', link: '/docs/getting-started.html' },
      { theme: 'alt', text: 'Does it fit?', link: '/docs/does-it-fit.html' },
    ],
  }
  const first = JSON.stringify({ line, command })
  return `---\nlayout: home\nhero: ${JSON.stringify(hero)}\nfirst: ${first}\n---\n\n${withPictures(rest.replace(PICTURE, ''))}`
}

const flat = (text) => text.replaceAll(/\s+/g, ' ')

/** The element that GitHub needs to show a picture in two color schemes. */
const PICTURE = /<picture>[\s\S]*?<img src="([^"]+)-light\.png"[^>]*alt="([^"]+)">\s*<\/picture>/

/** A text with such pictures as the site shows them. */
function withPictures(text) {
  return text.replaceAll(new RegExp(PICTURE, 'g'), (_, file, alt) =>
    ['light', 'dark'].map((scheme) => `![${alt}](${file}-${scheme}.png){.only-${scheme}}`).join('\n'),
  )
}
