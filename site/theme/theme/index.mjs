// The theme with the fonts of the reader's machine: the site loads nothing from elsewhere.
import theme from 'vitepress/theme-without-fonts'
import './site.css'

export default theme
