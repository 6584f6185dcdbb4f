/** How long a broker is waited for that does not answer, or does not know the leader of a partition. */
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { ERRORS } from '../support/broker/protocol.ts'
import { askingOf, failure } from './asking.ts'
import { kafkaLab, REPORTS, SHORT } from '../support/kafkaLab.ts'

const lab = kafkaLab()
const { ask, partitions } = askingOf(lab)
test('a partition that never gets a leader is a failure in the end', async () => {
  lab.broker.on('ListOffsets', async (_request, answer) => {
    const all = await answer()
    const errorCode = ERRORS.NOT_LEADER_FOR_PARTITION
    const topics = all.topics.map(({ topic, partitions: each }) => ({
      topic,
      partitions: each.map((partition) => ({ ...partition, errorCode })),
    }))
    return { ...all, topics }
  })
  const ends = ask().asking((_admin, questions) => questions.ends(REPORTS))
  expect((await failure(ends)).message).toBe(
    `Kafka at ${lab.broker.address} failed: This server is not the leader for that topic-partition`,
  )
})

test('a broker that takes the connection and never answers is named, in time', async () => {
  lab.broker.on('ApiVersions', () => 'silence')
  const found = await failure(partitions({ patience: SHORT }))
  expect(found.message).toBe(`Kafka at ${lab.broker.address} failed: Broker not connected`)
})

test('a request that is never answered is a failure in time, and not taken for an answer', async () => {
  lab.broker.on('OffsetFetch', () => 'silence')
  const work = ask({ patience: SHORT }).asking((_admin, questions) => questions.committed('g', REPORTS))
  expect((await failure(work)).message).toMatch(/^Kafka at .* failed: Request OffsetFetch\(.*\) timed out$/)
})

test('the time for a connection holds for its encryption as well', async () => {
  const first = Promise.withResolvers<Buffer>()
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', (data) => first.resolve(data))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { readonly port: number }
  const found = await failure(
    partitions({ brokers: [`127.0.0.1:${port}`], tls: { ca: null }, patience: { connectMs: 60, answerMs: 60 } }),
  )
  server.close()
  expect(found.message).toBe(`Kafka at 127.0.0.1:${port} cannot be reached: Connection timeout`)
  // how a handshake of TLS begins
  expect((await first.promise)[0]).toBe(0x16)
})

test('a broker may take longer to let somebody in than to answer', async () => {
  lab.broker.on('ApiVersions', async (_request, answer) => {
    await new Promise((resolve) => setTimeout(resolve, 1300))
    return answer()
  })
  expect(await partitions({ patience: { connectMs: 20_000, answerMs: 1000 } })).toBe(4)
})
