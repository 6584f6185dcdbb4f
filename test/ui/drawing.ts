/** Pages as text, a line for each element, and what the API was asked for them. */
import { createUi } from '../../src/ui/app.ts'
import { silent } from '../../src/log.ts'
import { handClock } from '../support/lab.ts'

/** The present of drawn pages. */
export const NOW = Date.UTC(2026, 2, 1, 12, 0, 0)
export const ago = (ms: number): string => new Date(NOW - ms).toISOString()
export const uuid = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
export const TIMES = { created_at: ago(7_200_000), updated_at: null }
export const noWaiting = { waiting: 0, oldest_at: null }
/** The files beside the pages are tested elsewhere, and take a while to be made. */
export const noAssets = async () => ({ hash: 'hash', scripts: (view: string) => [`${view}.js`], get: () => undefined })
/** A line for each element. */
export const lines = (html: string): string => html.replaceAll(/(?<=>)(?=<)/g, '\n')
export const mainOf = (html: string): string => lines(/<main[\s\S]*<\/main>/.exec(html)?.[0] ?? html)

/** Over an API that has these documents, by path or by method and path; there is nothing else. */
export const pagesOf = async (
  documents: Readonly<Record<string, unknown>>,
  places: readonly string[],
  now: number,
): Promise<string> => {
  let asked: string[] = []
  const fetch = (request: Request): Response => {
    const { pathname, search } = new URL(request.url)
    const path = pathname.slice('/v2'.length)
    asked.push(`${pathname}${search}`)
    const document = documents[`${request.method} ${path}`] ?? documents[path]
    return document === undefined ? new Response('', { status: 404 }) : Response.json(document)
  }
  const clock = { ...handClock(), now: () => now }
  const ids = { uuid: () => uuid(9999) }
  const ui = createUi({ fetch, assets: noAssets, signIn: null, barred: () => null, clock, ids, log: silent })
  let text = ''
  for (const place of places) {
    asked = []
    const answer = await ui.request(`/ui/${place}`)
    const questions = asked.toSorted().map((path) => `asked ${path}\n`)
    text += `### ${place} ${answer.status}\n${questions.join('')}${mainOf(await answer.text())}\n\n`
  }
  return text
}
