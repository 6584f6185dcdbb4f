/**
 * A program that the kernel does not let end although it was killed, as one that waits for a broken card: here one that
 * writes to a frozen file system.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { realHostIo } from '../../src/drivers/hostIo.ts'
import { loopDevice } from '../support/loopDevice.ts'
import { describeWith } from '../support/needs.ts'
import { tempFolder } from '../support/program.ts'

const folder = tempFolder('stuck-program')
const { part, detach } = loopDevice(join(folder.path, 'disk'))
const LIMIT_MS = 200

describeWith(part, 'a program that does not end', (device) => {
  const frozen = join(folder.path, 'frozen')
  const io = realHostIo({ hostname: 'here', stateDir: join(folder.path, 'state'), warn: () => {} })
  const thaw = () => spawnSync('fsfreeze', ['--unfreeze', frozen])
  afterAll(() => {
    thaw()
    execFileSync('umount', [frozen])
    detach(device)
  })

  test('is left behind, and not begun again while it is there: what only reads by its name, what changes a card by the lock of the card', async () => {
    mkdirSync(frozen)
    execFileSync('mkfs.ext4', ['-q', device])
    execFileSync('mount', [device, frozen])
    execFileSync('fsfreeze', ['--freeze', frozen])
    try {
      await expect(io.run('touch', [join(frozen, 'b')], LIMIT_MS)).rejects.toThrow(
        'touch: no end within 200 ms, and it does not end although it was killed',
      )
      await expect(io.run('touch', [join(folder.path, 'elsewhere')], LIMIT_MS)).rejects.toThrow(
        'touch: was not begun, because an earlier one does not end although it was killed',
      )
      expect(await io.run('echo', ['another program'], 5000)).toBe('another program\n')
      const change = (name: string) => io.change('card', 'touch', [join(frozen, name)], LIMIT_MS)
      await expect(change('c')).rejects.toThrow('touch: no end within 200 ms')
      await expect(change('d')).rejects.toThrow(
        'touch: was not begun, because a program that was begun earlier still works on the same card',
      )
    } finally {
      thaw()
    }
    await expect.poll(() => io.run('touch', [join(folder.path, 'elsewhere')], 5000), { timeout: 20_000 }).toBe('')
  }, 30_000)
})
afterAll(folder.remove)
