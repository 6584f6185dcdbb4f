/** The usual theme without its fonts, and the few rules for what the pages hold instead of styles in attributes. */
import Theme from 'vitepress/theme-without-fonts'
import './documents.css'

export default Theme
