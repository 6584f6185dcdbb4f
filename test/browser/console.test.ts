/**
 * The console as people meet it, in a real browser. `point N`: of the ten points that it is held against (decision
 * 0107).
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWith } from '../support/needs.ts'
import { ASTRAY, type Lived, type UiWorld, createConsole, lived, openUiWorld, placesOf } from '../ui/world.ts'
import { CHROMIUM_HERE, type Served, openBrowser, serve, under, violationsOf, watchedPage } from './browser.ts'

describeWith(CHROMIUM_HERE, 'the console in a browser', (chromium) => {
  let browser: Browser
  let world: UiWorld
  let seen: Lived
  let served: Served
  let proxied: Served
  beforeAll(async () => {
    browser = await openBrowser(chromium)
    world = await openUiWorld()
    seen = await lived(world)
    served = await serve(createConsole(world))
    proxied = await under('/x/y', served.base)
  })
  afterAll(async () => {
    await browser.close()
    await proxied.close()
    await served.close()
    await world.close()
  })

  test.each(['dark', 'light'] as const)(
    'point 7, everyone can read it: every page passes axe, and complains of nothing, %s',
    async (colorScheme) => {
      const { page, complaints, foreign } = await watchedPage(browser, served.base, { colorScheme })
      for (const place of placesOf(seen)) {
        await page.goto(served.base + place)
        expect(await violationsOf(page), `${colorScheme} ${place}`).toEqual([])
      }
      expect([complaints, foreign]).toEqual([[], []])
      for (const place of ASTRAY) {
        await page.goto(served.base + place)
        expect(await violationsOf(page), `${colorScheme} ${place}`).toEqual([])
      }
      await page.close()
    },
    180_000,
  )

  test('point 7, everyone can read it: every page fits 320 pixels without moving sideways', async () => {
    const { page } = await watchedPage(browser, served.base, { viewport: { width: 320, height: 700 } })
    for (const place of placesOf(seen)) {
      await page.goto(served.base + place)
      expect(await page.evaluate('document.documentElement.scrollWidth'), place).toBeLessThanOrEqual(320)
    }
    await page.close()
  })

  test('point 9, a link is a place: under a path of a proxy every page is the same, and every link stays below it', async () => {
    const { page, complaints, foreign } = await watchedPage(browser, proxied.base)
    for (const place of placesOf(seen)) {
      const answer = await page.goto(proxied.base + place)
      expect(answer?.status(), place).toBe(200)
      const links = await page.evaluate<readonly string[]>(
        '[...document.querySelectorAll("a")].map(({ href }) => href)',
      )
      expect(
        links.filter((link) => !link.startsWith(proxied.base) && link !== new URL('../docs/', proxied.base).href),
        place,
      ).toEqual([])
    }
    await page.waitForSelector('#live.good')
    expect([complaints, foreign]).toEqual([[], []])
    await page.goto(`${proxied.base}devices/${seen.card}/do/disable`)
    await page.click('button.full')
    await page.waitForURL(/\/x\/y\/ui\/devices\/[^/]+\?done=/)
    // a host that is slow to report is shown as silent before anything else
    expect(await page.textContent('.head .state')).toMatch(/^(?:disabled|host silent)$/)
    expect(await page.locator('a[href$="/do/enable"]').count()).toBe(1)
    await page.close()
  })

  test('point 3, it is alive and says so: a change appears without a click; when the service is away the page says so, and catches up', async () => {
    const own = await serve(createConsole(world))
    const { page } = await watchedPage(browser, own.base)
    // the test before this one has disabled it
    await world.must(204, `POST /v2/devices/${seen.card}/enable`)
    const waiting = await world.begun('fpga-small')
    await page.goto(`${own.base}arqs/${waiting.uuid}`)
    await page.waitForSelector('text=Waiting for compute-1')
    await world.answer(waiting.order)
    await page.waitForSelector('.head .state:text("Bound")', { timeout: 5000 })
    const port = Number(new URL(own.base).port)
    await own.close()
    await page.waitForSelector('#live.bad:has-text("reconnecting")', { timeout: 5000 })
    expect(await page.textContent('.head .state')).toBe('Bound')
    const again = await serve(createConsole(world), port)
    await page.waitForSelector('#live.good', { timeout: 20_000 })
    await page.close()
    await again.close()
  })

  test('point 3, it is alive and says so: paused while something is selected, stale when no answer comes in time', async () => {
    const slow = { ms: 0 }
    const own = await serve(createConsole(world))
    const { page } = await watchedPage(browser, own.base)
    await page.route('**/ui/arqs', async (route) => {
      if (slow.ms > 0) await new Promise((resolve) => setTimeout(resolve, slow.ms))
      await route.continue().catch(() => {})
    })
    await page.goto(`${own.base}arqs`)
    await page.waitForSelector('.taken #live.good:text("live")')
    await page.evaluate('getSelection().selectAllChildren(document.querySelector("h1"))')
    await page.waitForSelector('#live.held:text("paused")')
    await page.waitForSelector('#live.held:text-matches("paused · [1-9] s old")', { timeout: 8000 })
    await page.evaluate('getSelection().removeAllRanges()')
    await page.waitForSelector('#live.good')
    slow.ms = 9500
    await page.waitForSelector('#live.busy:text("stale")', { timeout: 20_000 })
    slow.ms = 0
    await page.waitForSelector('#live.good', { timeout: 20_000 })
    await page.close()
    await own.close()
  })

  test('the command beside a finding is copied by a button that says what it copies', async () => {
    const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] })
    const page = await context.newPage()
    await page.goto(served.base)
    await page.waitForSelector('.taken #live.good')
    await page.getByRole('button', { name: 'copy: accelerando handle release UUID --reason TEXT' }).press('Enter')
    await page.waitForSelector('.copy.copied')
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('accelerando handle release UUID --reason TEXT')
    await context.close()
  })

  test('the tail of events: what happens appears, pausing loses nothing, and filters hold', async () => {
    const { page } = await watchedPage(browser, served.base)
    await page.goto(`${served.base}events?kind=arq`)
    await page.waitForSelector('.taken #live.good')
    const create = async () => {
      const sent = { body: { device_profile_name: 'fpga-small' } }
      return (await world.must(201, 'POST /v2/accelerator_requests', sent)).json.arqs[0].uuid as string
    }
    const rowsOf = (uuid: string) => page.locator(`tbody tr:has-text("${uuid}")`)
    const first = await create()
    await rowsOf(first).waitFor({ timeout: 5000 })
    await page.click('[data-tail]')
    await page.waitForSelector('#live.held:text("paused")')
    const others = [await create(), await create()]
    await world.newProfile('fpga-other')
    expect(await page.locator('tbody tr').count()).toBe(1)
    await page.click('[data-tail]')
    for (const uuid of others) await rowsOf(uuid).waitFor({ timeout: 8000 })
    expect(await page.locator('tbody tr').count()).toBe(3)
    expect(await page.textContent('tbody')).not.toContain('ProfileCreated')
    expect(await page.textContent('tbody tr:first-child')).toContain(others[1])
    expect(await page.textContent('.command code')).toMatch(/event --follow --after \S+ --kind arq$/)
    await page.close()
  })

  test('point 4, twelve tabs: they share one stream of events, and a change is shown', async () => {
    const asked: string[] = []
    const own = await serve(createConsole(world, { fetch: ({ url }) => void asked.push(new URL(url).pathname) }))
    const context = await browser.newContext()
    const tabs = await Promise.all(Array.from({ length: 12 }, () => context.newPage()))
    for (const tab of tabs) await tab.goto(`${own.base}arqs`)
    for (const tab of tabs) await tab.waitForSelector('.taken #live.good')
    const front = tabs.at(-1)!
    await front.bringToFront()
    await front.waitForTimeout(500)
    expect(asked.filter((path) => path === '/v2/events')).toHaveLength(1)
    const { json } = await world.must(201, 'POST /v2/accelerator_requests', {
      body: { device_profile_name: 'fpga-small' },
    })
    await front.waitForSelector(`text=${json.arqs[0].uuid}`)
    await context.close()
    await own.close()
  })

  test('point 6, keyboard alone: a failed request is found, read, left for its host, and found again', async () => {
    const { page } = await watchedPage(browser, served.base)
    await page.goto(served.base)
    await page.waitForSelector('.taken #live.good')
    await page.keyboard.press('g')
    await page.keyboard.press('r')
    await page.waitForURL(`${served.base}arqs`)
    await page.waitForSelector('.taken #live.good')
    const focused = () => page.evaluate('document.activeElement?.textContent')
    for (let rows = 0; rows < 10 && (await focused()) !== seen.failed.uuid; rows++) await page.keyboard.press('j')
    expect(await focused()).toBe(seen.failed.uuid)
    expect(await page.evaluate('document.activeElement?.matches(":focus-visible")')).toBe(true)
    await page.keyboard.press('Enter')
    await page.waitForSelector('text=link down')
    await page.waitForSelector('.taken #live.good')
    await page.keyboard.press('/')
    await page.keyboard.type('compute-1')
    await page.keyboard.press('Enter')
    await page.waitForURL(`${served.base}hosts/compute-1`)
    await page.goBack()
    await page.waitForURL(`${served.base}arqs/${seen.failed.uuid}`)
    await page.waitForSelector('.taken #live.good')
    await page.keyboard.press('?')
    expect(await page.isVisible('#help')).toBe(true)
    await page.keyboard.press('Escape')
    expect(await page.isVisible('#help')).toBe(false)
    await page.close()
  })

  test('the focus stays on its row while the page is drawn anew', async () => {
    const { page } = await watchedPage(browser, served.base)
    await page.goto(`${served.base}arqs`)
    await page.waitForSelector('.taken #live.good')
    await page.keyboard.press('j')
    const row = () => page.evaluate('document.activeElement?.textContent')
    const first = await row()
    const { json } = await world.must(201, 'POST /v2/accelerator_requests', {
      body: { device_profile_name: 'fpga-small' },
    })
    await page.waitForSelector(`text=${json.arqs[0].uuid}`, { timeout: 5000 })
    expect(await row()).toBe(first)
    await page.close()
  })

  test('point 9, a link is a place: without scripts pages, filters, search and what is done work', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto(`${served.base}arqs`)
    await page.click('.tabs a:has-text("BindFailed")')
    expect(await page.textContent('table')).toContain(seen.failed.uuid)
    await page.fill('.search input', seen.bound.uuid)
    await page.press('.search input', 'Enter')
    expect(await page.textContent('h1')).toBe(seen.bound.uuid)
    await page.goto(`${served.base}handles/${seen.handle}/do/release`)
    await page.fill('input[name=reason]', 'looked at it')
    await page.click('button.full')
    expect(await page.textContent('.done')).toContain('recorded under req-')
    await context.close()
  })

  test('point 2, it is light: a first visit takes at most 30 KB of scripts and styles, a second none', async () => {
    const context = await browser.newContext()
    const page = await context.newPage()
    const client = await context.newCDPSession(page)
    await client.send('Network.enable')
    let bytes = 0
    const assets = new Set<string>()
    client.on('Network.responseReceived', ({ requestId, response }) => {
      if (response.url.includes('/assets/') && !response.fromDiskCache) assets.add(requestId)
    })
    client.on('Network.dataReceived', ({ requestId, encodedDataLength }) => {
      if (assets.has(requestId)) bytes += encodedDataLength
    })
    await page.goto(served.base)
    await page.waitForSelector('.taken #live.good')
    expect(bytes).toBeGreaterThan(10_000)
    expect(bytes).toBeLessThanOrEqual(30 * 1024)
    bytes = 0
    await page.goto(`${served.base}hosts`)
    await page.waitForSelector('.taken #live.good')
    expect(bytes).toBeLessThan(1000)
    await context.close()
  })

  test('people sign in, and out', async () => {
    const guarded = await serve(createConsole(world, { tokens: true }))
    const behind = await under('/cloud', guarded.base)
    const { page } = await watchedPage(browser, behind.base)
    await page.goto(`${behind.base}arqs/${seen.failed.uuid}`)
    await page.waitForURL(/\/cloud\/ui\/sign-in/)
    expect(await violationsOf(page)).toEqual([])
    await page.fill('input[name=user]', 'admin')
    await page.fill('input[name=password]', 'wrong')
    await page.click('button.full')
    expect(await page.textContent('.trouble')).toContain('Keystone does not accept')
    await page.fill('input[name=password]', 'right')
    await page.click('button.full')
    await page.waitForURL(`${behind.base}arqs/${seen.failed.uuid}`)
    expect(await page.evaluate('document.cookie')).toBe('')
    await page.click('text=Sign out')
    const place = `${behind.base}arqs?state=BindFailed&project_id=a%20b`
    for (const left of [place, `${behind.base}arqs/${seen.failed.uuid}#step-3`]) {
      await page.goto(left)
      await page.waitForSelector('.taken input[name=user]')
      await page.fill('input[name=user]', 'admin')
      await page.fill('input[name=password]', 'right')
      await page.click('button.full')
      await page.waitForURL(left)
      await page.click('text=Sign out')
    }
    await page.goto(behind.base)
    expect(page.url()).toContain('sign-in')
    await page.close()
    await behind.close()
    await guarded.close()
  })

  test('point 7, everyone can read it: at 200 % zoom, in forced colours and without motion every page can be used', async () => {
    // a window of 1280 by 800 at 200 %
    const zoomed = { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 }
    const { page } = await watchedPage(browser, served.base, {
      ...zoomed,
      forcedColors: 'active',
      reducedMotion: 'reduce',
    })
    for (const place of [
      '',
      `arqs/${seen.failed.uuid}`,
      'devices',
      'capacity',
      'explain?profile=fpga-small',
      'events?after=0',
    ]) {
      await page.goto(served.base + place)
      expect(await page.evaluate('document.documentElement.scrollWidth'), place).toBeLessThanOrEqual(640)
      const moving = 'document.getAnimations().filter(({ playState }) => playState === "running").length'
      expect(await page.evaluate(moving), place).toBe(0)
      const marks =
        '[...document.querySelectorAll("main .mark")].filter((mark) => mark.getBoundingClientRect().width < 8).length'
      expect(await page.evaluate(marks), place).toBe(0)
      expect(await violationsOf(page), place).toEqual([])
    }
    await page.close()
  })

  test('pictures of the pages can be taken', async () => {
    const folder = join(import.meta.dirname, '../../docs/images')
    mkdirSync(folder, { recursive: true })
    for (const [name, place, colorScheme] of [
      ['console-home', '', 'dark'],
      ['console-recorder', `arqs/${seen.failed.uuid}`, 'dark'],
      ['console-device', `devices/${seen.card}`, 'light'],
      [
        'console-explain',
        `explain?draft=${encodeURIComponent('[{"resources:FPGA": "9", "trait:CUSTOM_FPGA_XILINX": "required"}]')}`,
        'dark',
      ],
    ] as const) {
      const { page } = await watchedPage(browser, served.base, {
        colorScheme,
        viewport: { width: 1360, height: 800 },
        reducedMotion: 'reduce',
      })
      await page.goto(served.base + place)
      await page.waitForSelector('.taken')
      const picture = await page.screenshot(process.env['SCREENSHOTS'] ? { path: join(folder, `${name}.png`) } : {})
      expect(picture.length).toBeGreaterThan(10_000)
      expect(picture.length).toBeLessThan(200_000)
      await page.close()
    }
  })
})
