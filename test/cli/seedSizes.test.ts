/** How much `seed` fills: sizes that make no sense change nothing. */
import { expect, test } from 'vitest'
import { type Config, loadConfig } from '../../src/cli/config/config.ts'
import { seedStore } from '../../src/cli/store/stopped.ts'
import { silent } from '../../src/log.ts'

const loaded = loadConfig({ flags: { data: '/dev/null/nowhere' }, env: {}, readFile: () => '', osHostname: 'h' })
const config = (loaded as { readonly config: Config }).config
const SIZE = { hosts: '1', devices: '1', handles: '1', arqs: '0', projects: '1' }
const fill = (more: Partial<typeof SIZE>) => seedStore(config, { ...SIZE, ...more }, silent, () => undefined)

test.each(['0', '-1', '1.5', 'x', '1e20'])('hosts %s', async (hosts) => {
  await expect(fill({ hosts })).rejects.toThrow(/^--hosts: must be a whole number, at least 1$/)
})
test('there may be no ARQs, but not fewer', async () => {
  await expect(fill({ arqs: '-1' })).rejects.toThrow(/^--arqs: must be a whole number, at least 0$/)
  // the sizes are in order: the folder is not
  await expect(fill({})).rejects.toThrow(/nowhere/)
})
test('every wrong size is named', async () => {
  await expect(fill({ devices: '0', projects: 'x' })).rejects.toThrow(/^--devices: .* 1\n--projects: .* 1$/)
})
