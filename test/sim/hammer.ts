/** A tenant that asks for much more than the share of a project, while the others go on (decision 0135). */
import { mend } from './faults.ts'
import { PATH, PROJECTS, type Tools, asTenant, ok } from './sessions.ts'
import { pass, until } from './until.ts'
import type { World } from './world.ts'

const HAMMER = asTenant('project-hammer')
/** How many requests of it are open at once. */
const LANES = 16
/** How many of its requests are created. */
const CREATED = 12
/** How often each of the others asks. */
const ROUNDS = 2
/** What a request of another project may take, with everything in order. */
const ANSWERED_MS = 15_000
/** Processes that were started at the end of the faults answer by then, and what was begun has ended. */
const CALM_MS = 30_000

const pastOf = ({ stage }: World): string => encodeURIComponent(new Date(stage.now() - 20_000).toISOString())
/** Work of which a project has a share. */
const costly = (world: World): readonly string[] => [
  `GET ${PATH}?as_of=${pastOf(world)}`,
  `GET /v2/device_profiles?as_of=${pastOf(world)}`,
  `GET ${PATH}`,
  'GET /v2/usage',
]

/** A tenant of another project, and an administrator: each must be answered, whatever the hammer does. */
const others = async (world: World, { client, random }: Tools): Promise<void> => {
  const { schedule } = world.stage
  for (let round = 0; round < ROUNDS; round++)
    for (const line of costly(world)) {
      const fromMs = schedule.elapsed()
      const reply = await client.ask(asTenant(random.pick(PROJECTS)), 'other', line)
      const ms = schedule.elapsed() - fromMs
      if (!ok(reply) || ms > ANSWERED_MS)
        world.complain(`${line} of another project: ${reply.status ?? 'no answer'} after ${ms} ms`, 'L7')
    }
}
export const hammered = async (world: World, tools: Tools): Promise<void> => {
  mend(world.stage)
  await pass(world, CALM_MS)
  const { client, random } = tools
  world.stage.say('one project asks for more than its share')
  let [over, created] = [false, 0]
  const lane = async (): Promise<void> => {
    while (!over) {
      if (created++ < CREATED) await client.ask(HAMMER, 'create', `POST ${PATH}`, { device_profile_name: 'gpu' })
      await client.ask(HAMMER, 'other', random.pick(costly(world)))
    }
  }
  const lanes = Array.from({ length: LANES }, lane)
  await until(world, 'the requests beside a project that asks for too much', others(world, tools))
  over = true
  await until(world, 'the last requests of that project', Promise.all(lanes))
}
