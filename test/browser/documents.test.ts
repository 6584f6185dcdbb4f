/**
 * The documents through the console, in a real browser: pages, links and the search, without a network and within the
 * content policy.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DOCUMENTS } from '../../src/ui/documents.ts'
import { type Part, describeWith } from '../support/needs.ts'
import { consoleOf } from '../ui/world.ts'
import { CHROMIUM_HERE, type Served, openBrowser, serve, watchedPage } from './browser.ts'

const WITH_DOCUMENTS: Part = {
  name: 'Chromium and the built documents',
  installable: true,
  find: () =>
    existsSync(join(DOCUMENTS, 'index.html')) ? CHROMIUM_HERE.find() : { lacking: 'no documents/: npm run docs' },
}

describeWith(WITH_DOCUMENTS, 'the documents in a browser', (chromium) => {
  let browser: Browser
  let served: Served
  let docs: string
  beforeAll(async () => {
    browser = await openBrowser(chromium)
    served = await serve(consoleOf(async () => new Response(null, { status: 503 })))
    docs = new URL('../docs/', served.base).href
  })
  afterAll(async () => {
    await browser.close()
    await served.close()
  })

  test.each([
    '',
    'operators/console.html',
    'configuration.html',
    'reference/errors.html',
    'decisions/0083-pages-without-a-build.html',
  ])('the page %s is shown, complains of nothing and fetches nothing from elsewhere', async (place) => {
    const { page, complaints, foreign } = await watchedPage(browser, docs)
    const answer = await page.goto(docs + place, { waitUntil: 'networkidle' })
    expect(answer?.status()).toBe(200)
    expect(await page.locator('main h1').count()).toBe(1)
    expect([complaints, foreign]).toEqual([[], []])
    await page.close()
  })

  test('the search finds a word in the pages, and leads to the place', async () => {
    const { page, complaints, foreign } = await watchedPage(browser, docs)
    await page.goto(docs, { waitUntil: 'networkidle' })
    await page.click('.VPNavBarSearch button')
    await page.fill('.VPLocalSearchBox input', 'quarantined')
    await page.click('.VPLocalSearchBox .result >> nth=0')
    await page.waitForURL((url) => url.href !== docs)
    expect(await page.textContent('main')).toMatch(/quarantine/i)
    expect([complaints, foreign]).toEqual([[], []])
    await page.close()
  })

  test('the navigation of the console leads to the documents, and their pages to each other', async () => {
    const { page } = await watchedPage(browser, served.base)
    await page.goto(served.base)
    await page.click('nav.side a:text("Documents")')
    await page.waitForURL(docs)
    await page.click('.VPSidebar a:has-text("The console") >> nth=0')
    await page.waitForSelector('main h1:has-text("The console")')
    expect(page.url()).toBe(`${docs}operators/console.html`)
    await page.close()
  })
})
