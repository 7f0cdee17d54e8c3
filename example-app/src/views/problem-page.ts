import type { Problem } from '../http/problem.js'
import { html } from './html.js'
import { type Frame, layout, type Viewer } from './layout.js'

/** The page for a problem. */
export function problemPage(problem: Problem, viewer: Viewer | undefined, frame: Frame): string {
  return layout({
    title: problem.title,
    viewer,
    frame,
    body: html`<section class="narrow card problem">
  <p class="eyebrow">${problem.status}</p>
  <h1>${problem.title}</h1>
  <p>${problem.detail}</p>
  <p><a class="button" href="/">Back to the home page</a></p>
</section>`,
  })
}
