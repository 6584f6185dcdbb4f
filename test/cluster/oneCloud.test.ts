/** Two clouds with the same brokers and the same prefix: the second one does not start. */
import { afterAll, expect, test } from 'vitest'
import { clientIdIn, foreignMember } from '../../src/cli/programs/oneCloud.ts'
import { type ControlMember, controlMember } from '../support/cluster.ts'
import { freshPrefix, kafkaServer } from '../support/kafka.ts'
import { describeWith } from '../support/needs.ts'
import { freshDatabase } from '../support/postgres.ts'
import { tempFolder } from '../support/program.ts'

const LONG = 120_000
const [OURS, THEIRS] = ['0a11ce00-0000-4000-8000-000000000001', '0a11ce00-0000-4000-8000-000000000002']
const AT = { brokers: ['k1:9092', 'k2:9092'], prefix: 'cloud.' }

test('members of this cloud, and those that name none, are no obstacle; one of another cloud is named', () => {
  const own = [clientIdIn(OURS, 1), clientIdIn(OURS, 2), 'accelerando-control-3']
  expect(foreignMember([], OURS, AT)).toBeNull()
  expect(foreignMember(own, OURS, AT)).toBeNull()
  expect(foreignMember([...own, clientIdIn(THEIRS, 4)], OURS, AT)).toBe(
    `another cloud (${THEIRS}) uses the topics at k1:9092, k2:9092 with the prefix "cloud.", and this is cloud ${OURS}: ` +
      'set kafka.prefix to another one for each cloud',
  )
})

describeWith('postgres', 'two clouds', (bin) =>
  describeWith('kafka', 'on one broker', (rig) => {
    const folder = tempFolder('clouds')
    const controls: ControlMember[] = []
    afterAll(async () => {
      await Promise.all(controls.filter((one) => one.running()).map((one) => one.end('SIGTERM')))
      folder.remove()
    }, LONG)
    test(
      'with one prefix: the second does not start and says why, a second control of the first does',
      async () => {
        const { brokers } = (await kafkaServer(rig)).options
        const [one, other] = [await freshDatabase(bin), await freshDatabase(bin)]
        const prefix = freshPrefix()
        const control = async (name: string, database: string, of: string) => {
          const made = await controlMember({ database, brokers, prefix: of, folder: folder.path }, name)
          controls.push(made)
          return made
        }
        await (await control('first', one.url, prefix)).start()
        await expect((await control('foreign', other.url, prefix)).start()).rejects.toThrow(
          /another cloud \([0-9a-f-]{36}\)/,
        )
        await (await control('second', one.url, prefix)).start()
        await (await control('elsewhere', other.url, freshPrefix())).start()
      },
      LONG,
    )
  }),
)
