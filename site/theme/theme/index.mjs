// The theme with the fonts of the reader's machine: the site loads nothing from elsewhere.
import theme from 'vitepress/theme-without-fonts'
import './site.css'

export default {
  extends: theme,
  enhanceApp({ router }) {
    // The theme marks the main part of every page but the front page.
    router.onAfterRouteChange = () => {
      if (typeof document === 'undefined') return
      const isFront = router.route.data.frontmatter.layout === 'home'
      document.querySelector('#VPContent')?.[isFront ? 'setAttribute' : 'removeAttribute']('role', 'main')
    }
  },
}
