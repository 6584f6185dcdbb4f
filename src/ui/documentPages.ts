/** The pages below `/docs/` on the listener of the console: the documents, which need no sign-in. */
import type { Hono } from 'hono'
import { DOCUMENTS, type Documents, documentsIn } from './documents.ts'

const YEAR_SECONDS = 31_536_000
const PREFIX = '/docs/'

/** Plain text, so that the content policy needs no exception for it. */
const NOT_BUILT = `The documents are not built here.

In a checkout: npm run docs
builds them, and this address shows them without a restart.

As Markdown files they are in the folder docs/ of the checkout; docs/README.md is the first.
`

const matches = (header: string | undefined, etag: string): boolean =>
  header !== undefined && header.split(',').some((each) => ['*', etag].includes(each.trim().replace(/^W\//, '')))

export const serveDocuments = (app: Hono, documents: Documents = documentsIn(DOCUMENTS)): void => {
  app.get('/docs', (c) => c.redirect('docs/', 302))
  app.get(`${PREFIX}*`, async (c) => {
    const site = await documents()
    if (site === null) return c.text(NOT_BUILT, 404, { 'cache-control': 'no-store' })
    const file = await site.get(c.req.path.slice(PREFIX.length))
    if (file === null) return c.text('there is no such page', 404)
    const headers = {
      'content-security-policy': site.policy,
      'cache-control': file.lasting ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache',
      etag: file.etag,
    }
    if (file.status === 200 && matches(c.req.header('if-none-match'), file.etag)) return c.body(null, 304, headers)
    return c.body(file.bytes, file.status, { ...headers, 'content-type': file.type })
  })
}
