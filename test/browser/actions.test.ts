/** Actions in a real browser: what is checked before one, and what is recorded by it, also with scripts off. */
import { expect, test } from 'vitest'
import { until } from '../support/lab.ts'
import { describeWith } from '../support/needs.ts'
import { lived } from '../ui/world.ts'
import { CHROMIUM_HERE, violationsOf, watchedPage } from './browser.ts'
import { openStage } from './stage.ts'

describeWith(CHROMIUM_HERE, 'actions in a browser', (chromium) => {
  const stage = openStage(chromium, { before: lived })

  test.each([true, false])(
    'a change of a profile is checked with what is typed, and done only then, scripts: %s',
    async (javaScriptEnabled) => {
      const name = javaScriptEnabled ? 'with-scripts' : 'without-scripts'
      await stage.world.newProfile(name)
      const { page, complaints } = await watchedPage(stage.browser, stage.served.base, { javaScriptEnabled })
      await page.goto(`${stage.served.base}profiles/${name}/do/disable`)
      await page.fill('[name=version]', '7')
      await page.click('text=Check first')
      expect(await page.textContent('.concern')).toContain('versions.7')
      expect(await page.inputValue('[name=version]')).toBe('7')
      await page.fill('[name=version]', '1')
      await page.click('text=Check first')
      expect(await page.textContent('.concern')).toContain('Nobody uses it at present.')
      await page.fill('[name=reason]', 'not wanted')
      await page.click('button.full')
      await page.waitForURL(/\?done=disable/)
      expect(await page.textContent('.done')).toContain('Disable: recorded under req-')
      expect(await page.textContent('.recorded tbody')).toContain('ProfileVersionSet')
      if (javaScriptEnabled) expect(await violationsOf(page)).toEqual([])
      expect(complaints).toEqual([])
      await page.close()
    },
  )

  test('two versions of a profile are chosen and compared, with scripts off', async () => {
    const { page, complaints } = await watchedPage(stage.browser, stage.served.base, { javaScriptEnabled: false })
    await page.goto(`${stage.served.base}profiles/fpga-small/do/version`)
    await page.fill('[name=groups]', '[{"resources:FPGA": "1", "trait:CUSTOM_A": "required"}]')
    await page.fill('[name=reason]', 'only those')
    await page.click('button.full')
    await page.goto(`${stage.served.base}profiles/fpga-small`)
    await page.click('text=against the one before')
    expect(await page.textContent('tbody')).toContain('trait:CUSTOM_A')
    await page.selectOption('[name=from]', '2')
    await page.selectOption('[name=to]', '1')
    await page.click('button.full')
    await page.waitForURL(/versions\?from=2&to=1$/)
    expect(await page.textContent('tbody')).toContain('removed')
    expect(complaints).toEqual([])
    await page.close()
    const scripted = await watchedPage(stage.browser, stage.served.base, { viewport: { width: 320, height: 700 } })
    await scripted.page.goto(`${stage.served.base}profiles/fpga-small/versions`)
    expect(await violationsOf(scripted.page)).toEqual([])
    expect(await scripted.page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320)
    await scripted.page.close()
  })

  test('the answer of a host appears by itself on the page after the action', async () => {
    const { page, complaints } = await watchedPage(stage.browser, stage.served.base)
    await page.goto(`${stage.served.base}arqs/${stage.seen.bound.uuid}/do/force-unbind`)
    await page.fill('[name=reason]', 'the instance is gone')
    await page.fill('[name=confirm]', stage.seen.bound.uuid.slice(0, 8))
    await page.click('button.full')
    await page.waitForURL(/\?done=force-unbind/)
    expect(await page.textContent('.done')).toContain('host compute-1 has not answered yet')
    expect(await page.locator('.recorded tbody tr').count()).toBeGreaterThan(1)
    expect(await violationsOf(page)).toEqual([])
    await until(() => stage.world.orders.at(-1)?.type === 'ReleaseSlot', 'the order to release', 30_000)
    await stage.world.answer(stage.world.orders.at(-1)!)
    await page.waitForSelector('.done:has-text("and host compute-1 has answered")')
    expect(await page.textContent('.recorded tbody')).toContain('OrderDone')
    expect(complaints).toEqual([])
    await page.close()
  })
})
