/**
 * All metrics with their labels and the bounds of their buckets: dashboards and alerts of operators are built on them.
 * `-u` where a change is meant.
 */
import { expect, test } from 'vitest'
import { AT_ZERO, METRICS } from '../../src/cli/observe/metricsTable.ts'

test('the metrics are those that operators know', async () => {
  const rows = Object.entries(METRICS).map(([name, { type, labels, ...more }]) =>
    [name, type, ...labels, ...('buckets' in more ? more.buckets : [])].join(' '),
  )
  const zeros = Object.entries(AT_ZERO).flatMap(([name, series]) =>
    series.map((one) => `${name} ${JSON.stringify(one)}`),
  )
  await expect(`${[...rows, '', ...zeros].join('\n')}\n`).toMatchFileSnapshot('metrics.txt')
})
