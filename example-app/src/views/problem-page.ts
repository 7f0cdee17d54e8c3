import type { Problem } from '../http/problem.js'
import { html } from './html.js'
import { type Around, layout, type Viewer } from './layout.js'

/** The page for whatever went wrong. */
export function problemPage(problem: Problem, viewer: Viewer | undefined, around: Around): string {
  return layout({
    title: problem.title,
    viewer,
    around,
    body: html`<section class="narrow card problem">
  <p class="eyebrow">${problem.status}</p>
  <h1>${problem.title}</h1>
  <p>${problem.detail}</p>
  <p><a class="button" href="/">Back to the start</a></p>
</section>`,
  })
}
