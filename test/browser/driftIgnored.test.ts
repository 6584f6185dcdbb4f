/** A difference is ignored in a browser: a day is chosen, and the page shows the difference apart. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { describeWith } from '../support/needs.ts'
import { placementInMemory } from '../support/placement.ts'
import { type UiWorld, openUiWorld } from '../ui/world.ts'
import { CHROMIUM_HERE, watchedPage } from './browser.ts'
import { openStage } from './stage.ts'

const WEEK_MS = 604_800_000

/** A difference that no pass repairs: hardware that an operator keeps back. */
const withDifference = async (): Promise<UiWorld> => {
  const { placement, ask } = placementInMemory()
  const world = await openUiWorld(undefined, { placement, hosts: ['compute-1'] })
  ask('POST', '/resource_providers', { uuid: randomUUID(), name: 'compute-1' })
  const { must } = world
  const [handle] = (await must(200, 'GET /v2/handles?state=free&hostname=compute-1')).json.handles
  await must(200, `POST /v2/handles/${handle.uuid}/quarantine`, { body: { reason: 'ECC errors' } })
  await must(200, 'POST /v2/drift/heal?dry_run=false')
  return world
}

describeWith(CHROMIUM_HERE, 'a difference', (chromium) => {
  const stage = openStage(chromium, { open: withDifference })

  test('is ignored until a day, and no longer, by hand', async () => {
    const { page, complaints } = await watchedPage(stage.browser, stage.served.base)
    await page.goto(`${stage.served.base}drift`)
    await page.click('main a:text-is("Ignore")')
    await page.fill('input[type=date]', new Date(Date.now() + WEEK_MS).toISOString().slice(0, 10))
    await page.fill('input[name=reason]', 'the vendor comes')
    await page.click('main button[type=submit]')
    await page.waitForSelector('.taken main :text("Everything else agrees")')
    await page.waitForSelector('main td:text("the vendor comes")')
    await page.click('main a:text-is("Ignore no longer")')
    await page.fill('input[name=reason]', 'they came')
    await page.click('main button[type=submit]')
    await page.waitForSelector('.taken main a:text-is("Ignore")')
    expect(await page.locator('main td:text("the vendor comes")').count()).toBe(0)
    expect(complaints).toEqual([])
  })
})
