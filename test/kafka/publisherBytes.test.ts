/** What a message that waits for the broker weighs, and what is left to be done after a stop. */
import { expect, test } from 'vitest'
import { listen } from '../support/busLab.ts'
import { kafkaLab, REPORTS, say, until } from '../support/kafkaLab.ts'
import { quiet } from '../support/lab.ts'

const lab = kafkaLab()

test('a message weighs 100 bytes and those of its key and value, and each header ten and those of its text', async () => {
  const { bus } = lab.openBus()
  await bus.publish([say('a', '0')])
  const gate = Promise.withResolvers<void>()
  lab.broker.on('Produce', (_request, answer) => gate.promise.then(answer))
  const first = bus.publish([say('a', '1')])
  await until(() => lab.broker.seen('Produce').length === 2)
  const second = bus.publish([{ ...say('é', 'ü1'), headers: { name: 'ö', x: '' } }, say('', '')])
  expect(bus.state().publisher).toEqual({
    waiting: 2,
    waitingBytes: 100 + 2 + 3 + (4 + 2 + 10) + (1 + 0 + 10) + 100,
  })
  gate.resolve()
  await Promise.all([first, second])
  expect(bus.state().publisher).toEqual({ waiting: 0, waitingBytes: 0 })
})

test('a stopped bus has nothing left to be done', async () => {
  const { bus, clock } = lab.openBus()
  const { heard } = await listen(bus, 'g')
  await bus.publish([say('a', '1')])
  await until(() => heard.length === 1)
  await quiet()
  await bus.stop()
  expect([lab.broker.groups.committed('g', REPORTS, 0).offset, clock.pending()]).toEqual([1, 0])
})
