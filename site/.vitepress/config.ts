/** The site of the documents. `npm run docs` in the root builds it into `documents/`. */
import { join, relative } from 'node:path'
import { addressed, linkOf, pagesIn, sidebarOf, slugOf } from '../../infra/site/pages.ts'

const DOCS = join(import.meta.dirname, '../../docs')
const pages = pagesIn(DOCS)

type Token = {
  type: string
  tag: string
  attrs: [string, string][] | null
  children: Token[] | null
  attrGet: (name: string) => string | null
  attrSet: (name: string, value: string) => void
}
type State = { tokens: Token[]; env: { path?: string } }
type Markdown = {
  core: { ruler: { push: (name: string, rule: (state: State) => void) => void } }
  utils: { escapeHtml: (text: string) => string }
}

/** A link that leads nowhere on the site becomes text that tells the path of the file. */
const relink = (tokens: readonly Token[], from: string): void => {
  const open: string[] = []
  for (const token of tokens) {
    if (token.type === 'link_close' && open.pop() === 'outside') token.tag = 'span'
    if (token.type !== 'link_open') continue
    const link = linkOf(DOCS, from, token.attrGet('href') ?? '')
    open.push('outside' in link ? 'outside' : 'link')
    if ('href' in link) {
      token.attrSet('href', link.href)
      continue
    }
    // another type: the rule of VitePress for links must not see it
    token.type = 'outside_open'
    token.tag = 'span'
    token.attrs = [
      ['class', 'outside'],
      ['title', `${link.outside} of the program's source`],
    ]
  }
}

/** A strict content policy allows no style in an attribute. */
const withoutStyles = (token: Token): void => {
  const align = /^text-align: ?(\w+)$/.exec(token.attrGet('style') ?? '')?.[1]
  if (align !== undefined) token.attrs = [['class', align]]
}

const markdown = (md: Markdown): void => {
  md.core.ruler.push('documents', ({ tokens, env }) => {
    const from = relative(DOCS, env.path ?? join(DOCS, 'README.md'))
    for (const token of tokens) {
      withoutStyles(token)
      if (token.children !== null) relink(token.children, from)
    }
  })
}

type Resolve = (name: string, importer: string, options: object) => Promise<unknown>
/**
 * The pages lie outside of this package: what they import is looked for as if this file imported it. While pages are rendered, all share the
 * one Vue that Node loads; Vite looks for it below docs/, does not find it there, and would put a second one into the bundle.
 */
const libraries = {
  name: 'documents:libraries',
  enforce: 'pre' as const,
  resolveId(this: { resolve: Resolve }, name: string, importer: string | undefined, options: { ssr?: boolean }) {
    if (!/^vue(\/|$)/.test(name)) return null
    if (options.ssr === true) return { id: name, external: true }
    const isOurs = importer?.startsWith(`${DOCS}/`) === true
    return isOurs ? this.resolve(name, import.meta.filename, { ...options, skipSelf: true }) : null
  },
}

export default {
  srcDir: DOCS,
  outDir: join(import.meta.dirname, '../../documents'),
  cacheDir: join(import.meta.dirname, '../node_modules/.cache'),
  base: process.env['DOCS_BASE'] ?? '/docs/',
  lang: 'en',
  title: 'accelerando',
  // otherwise a style would be put into each page while it is loaded, which the content policy forbids
  appearance: { disableTransition: false },
  // an empty icon: without one browsers ask the listener for /favicon.ico
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  description: 'Manages hardware accelerators of a cloud',
  srcExclude: ['plan.md'],
  rewrites: Object.fromEntries(
    pages.filter((page) => addressed(page) !== page).map((page) => [page, addressed(page)]),
  ),
  // the two scripts of each page about dark mode and the kind of machine stay in the page: a content policy names them by their hashes
  metaChunk: true,
  markdown: {
    config: markdown,
    anchor: { slugify: slugOf },
    // what stands in angle brackets is what the reader fills in, not HTML
    html: false,
    linkify: false,
    // its colours would be styles in attributes
    highlight: (text: string, _language: string, _attributes: string) =>
      `<pre v-pre><code>${text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')}</code></pre>`,
  },
  vite: { plugins: [libraries], build: { chunkSizeWarningLimit: 4000 } },
  // one component of the theme has a style in an attribute, which its script sets anew when it is opened
  transformHtml: (page: string) => page.replaceAll(/(<[a-z][^<>]*?) style="[^"]*"/g, '$1'),
  themeConfig: {
    sidebar: sidebarOf(DOCS),
    outline: [2, 3],
    search: { provider: 'local' },
  },
}
