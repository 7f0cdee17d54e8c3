// The theme with the fonts of the reader's machine: the site loads nothing from elsewhere.
import theme from 'vitepress/theme-without-fonts'
import { h } from 'vue'
import { FirstLine } from './first-line.mjs'
import './site.css'

export default {
  extends: theme,
  Layout: () => h(theme.Layout, null, { 'home-hero-actions-after': () => h(FirstLine) }),
  enhanceApp({ router }) {
    // The theme marks the main part of every page but the front page.
    router.onAfterRouteChange = () => {
      if (typeof document === 'undefined') return
      const isFront = router.route.data.frontmatter.layout === 'home'
      document.querySelector('#VPContent')?.[isFront ? 'setAttribute' : 'removeAttribute']('role', 'main')
    }
  },
}
