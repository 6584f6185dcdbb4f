/** The pages below `/docs/` on the listener of the console: the documents, which need no sign-in. */
import type { Hono } from 'hono'
import { DOCUMENTS, type Documents, documentsIn } from './documents.ts'

const YEAR_SECONDS = 31_536_000
const PREFIX = '/docs/'

/** A page without styles and scripts, so that the content policy needs no exception for it. */
export const page = (path: string, title: string, text: string): string => {
  const up = '../'.repeat(path.split('/').length - 2)
  return `<!doctype html><html lang="en"><title>${title}</title><h1>${title}</h1>${text}<p><a href="${up}ui/">To the console</a></p></html>`
}
const NOT_BUILT = `<p>In a checkout, <code>npm run docs</code> builds them, and this address shows them without a restart.</p>
<p>As Markdown files they are in the folder <code>docs/</code> of the checkout; <code>docs/README.md</code> is the first.</p>`

const matches = (header: string | undefined, etag: string): boolean =>
  header !== undefined && header.split(',').some((each) => ['*', etag].includes(each.trim().replace(/^W\//, '')))

export const serveDocuments = (app: Hono, documents: Documents = documentsIn(DOCUMENTS)): void => {
  app.get('/docs', (c) => c.redirect('docs/', 302))
  app.get(`${PREFIX}*`, async (c) => {
    const site = await documents()
    if (site === null)
      return c.html(page(c.req.path, 'The documents are not built here', NOT_BUILT), 404, {
        'cache-control': 'no-store',
      })
    const file = await site.get(c.req.path.slice(PREFIX.length))
    if (file === null) return c.html(page(c.req.path, 'There is no such page', ''), 404)
    const headers = {
      'content-security-policy': site.policy,
      'cache-control': file.lasting ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache',
      etag: file.etag,
    }
    if (file.status === 200 && matches(c.req.header('if-none-match'), file.etag)) return c.body(null, 304, headers)
    return c.body(file.bytes, file.status, { ...headers, 'content-type': file.type })
  })
}
