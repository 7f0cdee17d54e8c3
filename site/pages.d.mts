/** The pages of the site as Markdown, by their path. */
export function sitePages(): { pages: readonly { readonly path: string; readonly text: string }[] }
