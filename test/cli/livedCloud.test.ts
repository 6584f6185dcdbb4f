/**
 * All that the commands of an operator print of a small cloud in which everything has happened that a journal can hold,
 * word for word. Where a change is meant: `npx vitest run test/cli/livedCloud.test.ts -u`, and the difference shows
 * what operators and scripts will meet.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Listening, listen, urlOf } from '../../src/cli/programs/listen.ts'
import { createApp } from '../../src/http/app.ts'
import { noauth } from '../../src/http/identity.ts'
import { silent } from '../../src/log.ts'
import { openLivedCloud } from '../golden/scenario.ts'
import { tempFolder } from '../support/program.ts'
import { NOVA, value } from '../support/plane.ts'
import { openTranscript } from './transcript.ts'

const folder = tempFolder('lived-cloud')
let cloud: Awaited<ReturnType<typeof openLivedCloud>>
let api: Listening
beforeAll(async () => {
  cloud = await openLivedCloud()
  const { control, clock, ids } = cloud
  api = await listen(createApp({ control, identify: noauth, log: silent, clock, ids }), { host: '127.0.0.1', port: 0 })
})
afterAll(async () => {
  await api.close(0)
  await cloud.plane.stop()
  folder.remove()
})

const NOBODY = '90000000-0000-4000-8000-0000000000ff'
const file = (name: string, text: string): string => {
  const path = join(folder.path, name)
  writeFileSync(path, text)
  return path
}

test('the commands of an operator', async () => {
  const { run: ran, text } = openTranscript(
    {},
    [
      [folder.path, '<folder>'],
      [urlOf(api), 'http://<address>'],
    ],
    [],
  )
  const run = (line: string) => ran(`${line} --api ${urlOf(api)}/v2`)
  /** As text and as documents. */
  const both = async (line: string) => {
    await run(line)
    await run(`${line} --json`)
  }
  const { control } = cloud
  const { items: arqs } = value(await control.arqs.list(NOVA, {}, {}))
  const { items: handles } = value(await control.handles.list(NOVA, {}, {}))

  await both('hosts list')
  await both('hosts show compute-1')
  await run('hosts show nobody')
  await both('handles list')
  for (const state of ['free', 'quarantined', 'held', 'nonsense'])
    await run(`handles list --state ${state} --host compute-1`)
  await run('handles list --host nobody')
  for (const { uuid } of handles) await run(`handles show ${uuid}`)
  await run(`handles show ${NOBODY}`)
  await run('handles show nonsense')
  for (const { uuid } of arqs) {
    await run(`arqs show ${uuid}`)
    await run(`arqs show ${uuid} --timeline`)
  }
  await both(`arqs show ${arqs[0]!.uuid} --timeline`)
  await run(`arqs show ${NOBODY} --timeline`)
  await both('drift')
  await run('drift --host compute-1 --nova')
  await run('drift --host nobody')
  await both('drift ignored')
  await both('drift heal')
  await run('drift heal --apply')
  await run('drift heal --apply')
  await run('orphans')
  await run('orphans collect --apply --yes')

  const map = file('map.toml', '[traits]\nCUSTOM_GPU = "CUSTOM_CARD"\n[classes]\nFPGA = "CUSTOM_FPGA"\n')
  await both(`profiles migrate --map ${map}`)
  await run(`profiles migrate --map ${map} --apply --reason renamed --as kim`)
  await run(`profiles migrate --map ${map}`)
  await run(`profiles migrate --map ${file('empty.json', '{}')}`)
  const bound = arqs.find(({ state }) => state === 'Bound')!
  await run(`arqs force-unbind ${bound.uuid} --reason gone --as kim --yes`)
  await run(`arqs force-unbind ${bound.uuid} --reason gone --yes`)
  await run(`arqs show ${bound.uuid} --timeline`)
  const { uuid: handle } = handles.find(({ arq_uuid: holder }) => holder === null)!
  await run(`handles quarantine ${handle} --reason broken --as kim`)
  await run('handles list --state quarantined')
  await run(`handles release ${handle} --reason clean`)
  await run(`handles release ${handle} --reason clean`)
  await run(`handles release ${NOBODY} --reason clean`)
  await run('hosts approve compute-1 --reason known')
  await run(`hosts rekey compute-1 --reason lost --key ${'C'.repeat(43)}`)
  await run('hosts retire compute-1 --reason old --as kim')
  await run('hosts retire compute-1 --reason old')
  await run('hosts list')
  await run('hosts remove compute-1 --yes --reason old')
  await run('hosts remove compute-1 --yes --reason old --force --as kim')
  await run('hosts remove compute-1 --yes --reason old --force --json')
  await both('hosts list')
  await run('hosts restore compute-1 --reason mended')
  await run('hosts restore nobody --reason mended')
  await run('handles list')
  await expect(text()).toMatchFileSnapshot('golden/livedCloud.txt')
})
