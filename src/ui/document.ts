/**
 * The HTML document of a page. It contains no script and no style, since the content policy allows only files of this
 * server.
 */
import { renderToString } from 'preact-render-to-string'
import type { Assets } from './assets.ts'
import { layout } from './view/layout.ts'
import type { Screen } from './view/screen.ts'
import { drawnBy } from './view/views.ts'

export const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'self'",
  "frame-ancestors 'none'",
].join('; ')

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escaped = (text: string): string => text.replaceAll(/[&<>"]/g, (each) => ENTITIES[each] ?? each)
/** JSON for a data block, in which nothing can end the block. */
const inScript = (value: unknown): string => JSON.stringify(value).replaceAll('<', '\\u003c')

/** The path from a page to the root of the console, which a proxy may have put anywhere: `../` for each folder. */
export const rootFrom = (here: string): string => '../'.repeat(here.split('/').length - 1) || './'

export const documentOf = async (
  screen: Screen,
  { hash, scripts }: Pick<Assets, 'hash' | 'scripts'>,
): Promise<string> => {
  const draw = await drawnBy(screen.view)
  const assets = `assets/${hash}`
  return [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8">',
    `<base href="${rootFrom(screen.here)}">`,
    `<title>${escaped(screen.title)} · accelerando</title>`,
    '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="dark light">',
    `<link rel="stylesheet" href="${assets}/style.css"><link rel="icon" href="${assets}/icon.svg" type="image/svg+xml">`,
    ...scripts(screen.view).map((name) => `<link rel="modulepreload" href="${assets}/${name}">`),
    `<script type="module" src="${assets}/browser/main.js"></script>`,
    '</head><body>',
    `<div id="app">${renderToString(layout(screen, draw(screen)))}</div>`,
    `<script type="application/json" id="screen">${inScript(screen)}</script>`,
    '</body></html>',
  ].join('\n')
}
