/** What most files of browser tests stand on: a browser, and a console over a world in memory. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import { type UiWorld, createConsole, openUiWorld } from '../ui/world.ts'
import { type Served, openBrowser, serve } from './browser.ts'

type Wanted<Seen> = {
  readonly open?: () => Promise<UiWorld>
  /** What happens in the world before the first test; its result is `seen`. */
  readonly before?: (world: UiWorld) => Promise<Seen>
  readonly options?: Parameters<typeof createConsole>[1]
}
type Stage<Seen> = { readonly browser: Browser; readonly world: UiWorld; readonly served: Served; readonly seen: Seen }

/** Its parts are there from the first test of the file on, and end after the last. */
export const openStage = <Seen = unknown>(
  chromium: string,
  { open = () => openUiWorld(), before, options }: Wanted<Seen> = {},
): Stage<Seen> => {
  const stage = {} as { -readonly [Part in keyof Stage<Seen>]: Stage<Seen>[Part] }
  beforeAll(async () => {
    stage.browser = await openBrowser(chromium)
    stage.world = await open()
    if (before !== undefined) stage.seen = await before(stage.world)
    stage.served = await serve(createConsole(stage.world, options))
  })
  afterAll(async () => {
    await stage.browser.close()
    await stage.served.close()
    await stage.world.close()
  })
  return stage
}
