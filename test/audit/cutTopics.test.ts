/** Which partitions an audit says have lost their beginning. */
import { expect, test } from 'vitest'
import { cutByTime } from '../../src/cli/audit/topics.ts'

test('those whose old messages go with time; in compacted topics messages are replaced, which is no loss', () => {
  const cut = ['arq.events.v1/0', 'arq.events.v1/11', 'host.orders.v1/3', 'arq.state.v1/0', 'device.state.v1/11']
  expect([...cutByTime(new Set(cut))]).toEqual(['arq.events.v1/0', 'arq.events.v1/11', 'host.orders.v1/3'])
})
