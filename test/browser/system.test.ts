/** The page about the system in a browser: what was opened stays open, and the support bundle is a file. */
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWith } from '../support/needs.ts'
import { type UiWorld, createConsole, openUiWorld } from '../ui/world.ts'
import { CHROMIUM_HERE, type Served, openBrowser, serve, violationsOf, watchedPage } from './browser.ts'

describeWith(CHROMIUM_HERE, 'the page about the system', (chromium) => {
  let browser: Browser
  let world: UiWorld
  const open: Served[] = []
  const served = async (tokens = false): Promise<string> => {
    const one = await serve(createConsole(world, { tokens }))
    open.push(one)
    return one.base
  }
  beforeAll(async () => {
    browser = await openBrowser(chromium)
    world = await openUiWorld()
  })
  afterAll(async () => {
    await browser.close()
    for (const { close } of open) await close()
    await world.close()
  })
  const openedIn = (page: Page): Promise<number> => page.locator('main details[open]').count()

  test('can be read by everyone, and what was opened stays open when the page is drawn again', async () => {
    const { page, complaints, foreign } = await watchedPage(browser, await served())
    await page.goto(`${open.at(-1)!.base}system`)
    await page.waitForSelector('.taken #live.good')
    expect(await violationsOf(page)).toEqual([])
    await page.click('summary:has-text("with its default")')
    expect(await openedIn(page)).toBe(1)
    await world.newProfile('drawn-again')
    await page.waitForResponse((answer) => answer.request().headers()['accept'] === 'application/json')
    await page.waitForSelector('#live.good')
    expect(await openedIn(page)).toBe(1)
    expect([complaints, foreign]).toEqual([[], []])
    await page.close()
  })

  test('gives the support bundle to an administrator as a file', async () => {
    const { page, complaints } = await watchedPage(browser, await served())
    await page.goto(`${open.at(-1)!.base}system`)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.click('text=Download the support bundle'),
    ])
    expect(download.suggestedFilename()).toMatch(/^accelerando-support-\d{8}T\d{6}Z\.tar\.gz$/)
    expect(gunzipSync(readFileSync(await download.path())).toString('utf8')).toContain('configuration.json')
    expect(page.url()).toContain('/ui/system')
    expect(complaints).toEqual([])
    await page.close()
  })

  test('shows a member which rule forbids it, and no button', async () => {
    const base = await served(true)
    const { page } = await watchedPage(browser, base)
    await page.goto(`${base}sign-in?back=system`)
    await page.fill('input[name=token]', 'token-of-member')
    await page.click('button:has-text("Sign in")')
    await page.waitForSelector('main :text("cyborg:system:get")')
    expect(await page.locator('text=Download the support bundle').count()).toBe(0)
    expect(await violationsOf(page)).toEqual([])
    await page.close()
  })
})
