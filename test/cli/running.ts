/**
 * A service that runs in the process of a test: what it shows, without what depends on time and on how often was
 * looked.
 */
import { expect } from 'vitest'
import { runTour } from '../../src/cli/programs/tour.ts'
import type { openTourNova } from '../../src/cli/programs/tourNova.ts'
import type { Said } from '../support/lab.ts'
import { pageOf } from '../telemetry/page.ts'

const WAIT_MS = 10
const LIMIT_MS = 30_000

export const read = async (url: string, method = 'GET'): Promise<string> => (await fetch(url, { method })).text()
export const until = async (what: string, holds: () => Promise<boolean>): Promise<void> => {
  for (const end = performance.now() + LIMIT_MS; !(await holds());) {
    if (performance.now() > end) throw new Error(`${what}: not within ${LIMIT_MS} ms`)
    await new Promise((resolve) => setTimeout(resolve, WAIT_MS))
  }
}

/**
 * Walks the tour. Nova is shown as having heard only when the answer to it is recorded, so that what follows is always
 * recorded after it.
 */
export const toured = async (base: string, { heard }: Awaited<ReturnType<typeof openTourNova>>): Promise<string> => {
  let told = false
  const look = async (arq: string) => {
    told ||= (await read(`${base}/accelerator_requests/${arq}/timeline`)).includes('nova told')
  }
  const heardAndTold = () => {
    const [event] = heard()
    if (event) void look(event.tag)
    return told ? heard() : []
  }
  const said: string[] = []
  expect(
    await runTour({ base, console: 'http://console/ui/', heard: heardAndTold, say: (line) => void said.push(line) }),
  ).toBe(true)
  await until('the handle is free', async () => !/"state":"(held|releasing)"/.test(await read(`${base}/handles`)))
  return said.map((line) => line.replace(/\+\d+ ms/, '+1 ms').replaceAll(/ +/g, ' ')).join('\n')
}

/** Names and labels. */
export const series = (page: string): string =>
  pageOf(page)
    .samples.filter(({ name }) => name.startsWith('accelerando_') && !/_(bucket|sum)$/.test(name))
    .map(({ name, labels }) => `${name} ${JSON.stringify(labels)}`)
    .join('\n')

/** What the relay and the inbox have done by then is different each time; that they say it is not. */
export const readiness = (page: string): string =>
  page.replaceAll(/"(rows|messages|taken|actors|states|unchanged)":\d+/g, '"$1":<amount>')

export const logged = (said: readonly Said[]): string =>
  said
    .filter(({ level, message }) => level !== 'debug' && message !== 'http.answered')
    .map(({ level, message, detail }) => `${level} ${message} ${JSON.stringify(detail)}`)
    .join('\n')
