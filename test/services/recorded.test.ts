/**
 * What every operation answers, records and puts on the bus, word for word. Where a change of it is meant:
 * `npx vitest run test/services/recorded.test.ts -u`, and the difference shows what others will meet.
 */
import { beforeAll, expect, test } from 'vitest'
import { type LivedIn, openLivedIn } from './livedIn.ts'
import { COMMANDS, MAKINGS, OF_THE_PAST, type Operation, QUESTIONS, REFUSALS, REPORTS } from './operations.ts'
import { ODD } from './oddCommands.ts'
import { idNames } from './idNames.ts'
import { MORE } from './questions.ts'
import { settled } from './settled.ts'

let cloud: LivedIn
let named: (text: string) => string
beforeAll(async () => {
  cloud = await openLivedIn()
  named = idNames(cloud.names.journal)
})
/**
 * Each section has names of its own for the UUIDs that the cloud did not have before. A value that does not fit into
 * its line begins below it, and would leave a blank at its end.
 */
const fileOf = (sections: readonly string[]): string =>
  `${sections.map((section) => named(section).replaceAll(/ +$/gm, '')).join('\n\n')}\n`

const LINE_MAX = 110
/** As JSON, with each part in a line of its own that does not fit into one. */
const textOf = (value: unknown, margin = ''): string => {
  const line = JSON.stringify(value) ?? 'undefined'
  if (typeof value !== 'object' || value === null || line.length + margin.length <= LINE_MAX) return line
  const inner = `${margin} `
  const parts = Array.isArray(value)
    ? value.map((one) => `${inner}${textOf(one, inner)}`)
    : Object.entries(value).flatMap(([name, one]) =>
        one === undefined ? [] : [`${inner}${name}: ${textOf(one, inner)}`],
      )
  return `\n${parts.join('\n')}`
}

/** What was recorded, put on the bus and asked of Placement, in this order. */
const doneSince = async (rows: number, published: number, asked: number): Promise<readonly string[]> => [
  ...(await cloud.recorded())
    .slice(rows)
    .map(({ key, cause, events }) => `recorded ${key} ${textOf(cause)} ${textOf(events)}`),
  ...cloud.published
    .slice(published)
    .map(({ topic, key, value }) => `published ${topic} ${key} ${textOf(JSON.parse(value))}`),
  ...cloud
    .asked()
    .slice(asked)
    .map((line) => `asked Placement ${line}`),
]

const written = async (title: string, operation: Operation): Promise<string> => {
  const plane = await cloud.reopen((store) => store)
  const caller = { ...cloud.names.caller, commandId: '80000000-0000-4000-8000-000000000003' }
  const answer = await settled(cloud.clock(), operation(plane.control, cloud.names, caller, plane))
  await settled(cloud.clock(), plane.sweeper.idle())
  const lines = await doneSince(0, 0, 0)
  await settled(cloud.clock(), plane.stop())
  return [`== ${title}`, textOf(answer.ok ? answer.value : answer.fault), ...lines].join('\n')
}
const TABLES = {
  questions: { ...QUESTIONS, ...MORE },
  past: OF_THE_PAST,
  oddCommands: ODD,
  commands: { ...COMMANDS, ...MAKINGS, ...REFUSALS },
  reports: Object.fromEntries(
    Object.entries(REPORTS).map(([name, reportOf]): [string, Operation] => [
      name,
      (_, names, __, { reports }) => reports.take(reportOf(names), 'the id'),
    ]),
  ),
}
test.each(Object.entries(TABLES))('the %s get the same answers', async (name, table) => {
  const texts: string[] = []
  for (const [title, operation] of Object.entries(table)) texts.push(await written(title, operation))
  await expect(fileOf(texts)).toMatchFileSnapshot(`golden/${name}.txt`)
})

/** Seconds since the cloud was reopened, shortly before and after something is due. */
const MOMENTS = [0, 8, 11, 14, 16, 60, 119, 121, 140, 599, 611, 680, 1799, 1801, 3599, 3601, 7300]
test('what is done as time passes is the same', async () => {
  const hour = 3_600_000
  const options = { unboundTtlMs: hour, collectOrphansMs: 60_000, checkEveryMs: 60_000 }
  const plane = await cloud.reopen((store) => store, options)
  const texts: string[] = []
  const start = cloud.clock().now()
  for (const moment of MOMENTS) {
    await cloud.clock().pass(start + moment * 1000 - cloud.clock().now())
    const before = [(await cloud.recorded()).length, cloud.published.length, cloud.asked().length] as const
    // a slow round is one in eight
    for (let n = 0; n < 8; n++) await settled(cloud.clock(), plane.sweeper.round())
    await settled(cloud.clock(), plane.sweeper.idle())
    texts.push([`== after ${moment} s`, ...(await doneSince(...before))].join('\n'))
  }
  await settled(cloud.clock(), plane.stop())
  texts.push(`counted ${textOf(plane.counts())}`)
  await expect(fileOf(texts)).toMatchFileSnapshot('golden/rounds.txt')
})
