import { createMarkdownRenderer } from 'vitepress'

/** A renderer of Markdown as the site has it, markdown-it, without the colors of code, which take seconds to load. */
export function markdownRenderer() {
  return createMarkdownRenderer('', { highlight: (code) => code.replaceAll('<', '&lt;') })
}
