/** An image is chosen and loaded in a browser. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { imageOf } from '../support/images.ts'
import { describeWith } from '../support/needs.ts'
import { openUiWorld } from '../ui/world.ts'
import { CHROMIUM_HERE, watchedPage } from './browser.ts'
import { openStage } from './stage.ts'

const IMAGE = randomUUID()

describeWith(CHROMIUM_HERE, 'a card', (chromium) => {
  const stage = openStage(chromium, {
    open: () =>
      openUiWorld(undefined, {
        images: {
          find: async (uuid) => ({ found: true, image: imageOf(uuid) }),
          search: async () => ({ found: true, images: [{ ...imageOf(IMAGE), name: 'aes' }] }),
        },
      }),
  })

  test('is loaded with an image that is chosen from those that fit, after its UUID was begun', async () => {
    const { browser, world, served } = stage
    const { page, complaints } = await watchedPage(browser, served.base)
    await page.goto(`${served.base}programs`)
    await page.click('main a:text-is("Load an image")')
    expect(await page.locator('datalist option').getAttribute('value')).toBe(IMAGE)
    await page.fill('input[name=image]', IMAGE)
    await page.fill('input[name=confirm]', world.fpga.uuid.slice(0, 8))
    const sent = page.click('main button[type=submit]')
    await expect.poll(async () => (await world.pump(), world.orders.length)).toBe(1)
    await world.answer(world.orders[0]!, { status: 'done', bitstreamId: IMAGE })
    await sent
    await page.waitForSelector(`.taken main td:has-text("${IMAGE}")`)
    await page.waitForSelector('main :text("Load an image: recorded under")')
    expect(complaints).toEqual([])
  })
})
