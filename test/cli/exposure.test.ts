/** Which files of a program another user could replace. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { exposedOn, exposureOf, warnOfExposed } from '../../src/cli/programs/exposure.ts'
import { memoryLog } from '../support/lab.ts'

const root = mkdtempSync(join(tmpdir(), 'accelerando-exposure-'))
afterAll(() => rmSync(root, { recursive: true }))
const folder = (name: string, mode: number): string => {
  mkdirSync(join(root, name))
  chmodSync(join(root, name), mode)
  return join(root, name)
}
const file = (name: string, mode: number): string => {
  writeFileSync(join(root, name), '')
  chmodSync(join(root, name), mode)
  return join(root, name)
}
const EVERYBODY = 'everybody on this machine may write to it'

const ME = { uid: 7, gid: 70 }
test.each([
  [{ uid: 7, gid: 70, mode: 0o755 }, ME, null],
  [{ uid: 7, gid: 70, mode: 0o775 }, ME, null],
  [{ uid: 7, gid: 0, mode: 0o775 }, ME, null],
  [{ uid: 7, gid: 71, mode: 0o775 }, ME, 'its group (71) may write to it'],
  [{ uid: 7, gid: 71, mode: 0o755 }, ME, null],
  [{ uid: 7, gid: 70, mode: 0o757 }, ME, EVERYBODY],
  [{ uid: 0, gid: 0, mode: 0o755 }, ME, null],
  [{ uid: 8, gid: 70, mode: 0o700 }, ME, 'it belongs to another user (8)'],
  [{ uid: 8, gid: 8, mode: 0o770 }, null, null],
  [{ uid: 8, gid: 8, mode: 0o777 }, null, EVERYBODY],
])('with %o is exposed for %o: %s', (facts, user, reason) => expect(exposureOf(facts, user)).toBe(reason))

test('a path is followed by its links, up to the root', async () => {
  const open = folder('open', 0o777)
  mkdirSync(join(open, 'own'), { mode: 0o700 })
  symlinkSync(join(open, 'own'), join(root, 'link'))
  expect(await exposedOn(join(root, 'link'))).toEqual([{ path: open, reason: EVERYBODY }])
})

test('programs and playbooks that clean are looked at, each once, with what a folder of playbooks holds', async () => {
  const log = memoryLog()
  const playbooks = folder('playbooks', 0o755)
  folder('playbooks/pci_driver', 0o755)
  const [command, playbook] = [file('wipe', 0o757), file('clean.yml', 0o757)]
  const inside = file('playbooks/pci_driver/init.yml', 0o757)
  await warnOfExposed(
    {
      playbooks: { dir: playbooks, program: 'ansible-playbook', limitMs: 1 },
      cleaning: [
        { driver: 'a', kind: 'command', command: [command], limitMs: 1 },
        { driver: 'b', kind: 'playbook', playbook, limitMs: 1 },
        { driver: 'c', kind: 'playbook', playbook, limitMs: 1 },
        { driver: 'd', kind: 'command', command: [join(root, 'none')], limitMs: 1 },
        { driver: 'e', kind: 'quarantine' },
      ],
    },
    log,
  )
  expect(log.said).toEqual(
    [command, playbook, inside].map((path) => ({
      level: 'warn',
      detail: { path, reason: EVERYBODY },
      message: 'cleaning.pathExposed',
    })),
  )
})
