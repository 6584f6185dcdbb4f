/** How spans are sent: in batches, from a queue, at intervals that variables set; and what is said of a collector. */
import { diag } from '@opentelemetry/api'
import { expect, test } from 'vitest'
import { openTelemetry } from '../../src/cli/observe/telemetry.ts'
import { openWatching } from '../../src/cli/observe/watching.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { memoryLog, until } from '../support/lab.ts'
import { ENDPOINT, collectorOfEachTest } from './collector.ts'

const collector = collectorOfEachTest()
const opened = async (more: Readonly<Record<string, string>>) => {
  const log = memoryLog()
  const { tracer, close } = await openTelemetry('test', log, { [ENDPOINT]: collector().url, ...more })
  const end = (...names: readonly string[]) => {
    for (const name of names) tracer.enter(name, undefined).end()
  }
  return { log, end, close }
}
const names = () => collector().spans.map(({ name }) => name)

test('a request to the collector has no more spans than a batch may have', async () => {
  const { end, close } = await opened({ OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '2' })
  end('a', 'b', 'c')
  await close()
  expect(names().toSorted()).toEqual(['a', 'b', 'c'])
  expect(collector().resources).toHaveLength(2)
})
test('what does not fit into the queue is left out', async () => {
  const { end, close } = await opened({ OTEL_BSP_MAX_QUEUE_SIZE: '2' })
  end('a', 'b', 'c', 'd', 'e')
  await close()
  // a batch has at most as many spans as the queue: the first two are sent at once, the next two wait for their end
  expect(names().toSorted()).toEqual(['a', 'b', 'c', 'd'])
})
test('spans are sent after the interval, without a stop', async () => {
  const { end, close } = await opened({ OTEL_BSP_SCHEDULE_DELAY: '1' })
  end('a')
  await until(() => collector().spans.length > 0)
  expect(names()).toEqual(['a'])
  await close()
})
test('problems of the library are logged by their beginning, and what it only tells is not', async () => {
  const { log, close } = await opened({})
  diag.warn('w'.repeat(1001))
  diag.error('the collector is away')
  diag.info('no problem')
  diag.debug('no problem')
  diag.verbose('no problem')
  await close()
  expect(log.said).toEqual([
    { level: 'info', detail: { service: 'test', sampler: 'parentbased_always_on' }, message: 'telemetry.on' },
    ...['w'.repeat(1000), 'the collector is away'].map((reason) => ({
      level: 'warn',
      detail: { reason },
      message: 'telemetry',
    })),
  ])
})
test('a program sends what is left when it closes, and measures itself from its start', async () => {
  const closing: (() => unknown)[] = []
  const open = { add: (close: () => unknown) => void closing.push(close), close: async () => {} }
  const { tracer, meter } = await openWatching('accelerando-test', silent, open)
  tracer.enter('last', undefined).end()
  expect(collector().spans).toEqual([])
  await closing[0]!()
  expect(names()).toEqual(['last'])
  expect(collector().resources[0]).toMatchObject({ 'service.name': 'accelerando-test' })
  expect(await meter.registry.getSingleMetricAsString('process_cpu_seconds_total')).toMatch(
    /^process_cpu_seconds_total /m,
  )
})
test('the tracer is named after this program', async () => {
  const { end, close } = await opened({})
  end('a')
  await close()
  expect([...collector().scopes]).toEqual(['accelerando'])
})
