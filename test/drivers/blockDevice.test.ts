/** What the kernel of this machine says of a block device that something has for itself. */
import { execFileSync } from 'node:child_process'
import { closeSync, constants, mkdirSync, openSync, readFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { realHostIo } from '../../src/drivers/hostIo.ts'
import { loopDevice } from '../support/loopDevice.ts'
import { describeWith } from '../support/needs.ts'
import { tempFolder } from '../support/program.ts'

const folder = tempFolder('block-device')
const { part, detach } = loopDevice(join(folder.path, 'disk'))
const host = () => realHostIo({ hostname: 'here', stateDir: join(folder.path, 'state'), warn: () => {} })
describeWith(part, 'a block device', (device) => {
  afterAll(() => detach(device))
  const number = (): string => readFileSync(`/sys/block/${basename(device)}/dev`, 'utf8').trim()

  test('is claimed while something else has it for itself, and then free again', async () => {
    const { blockDevice } = host()
    expect(await blockDevice(device)).toEqual({ number: number(), isClaimed: false })
    const other = await open(device, constants.O_RDONLY | constants.O_EXCL)
    expect(await blockDevice(device)).toEqual({ number: number(), isClaimed: true })
    await other.close()
    expect(await blockDevice(device)).toMatchObject({ isClaimed: false })
  })
  test('is claimed while a file system of it is mounted', async () => {
    const { blockDevice } = host()
    execFileSync('mkfs.ext4', ['-q', device])
    const at = join(folder.path, 'mounted')
    mkdirSync(at)
    execFileSync('mount', [device, at])
    expect(await blockDevice(device)).toMatchObject({ isClaimed: true })
    execFileSync('umount', [at])
    expect(await blockDevice(device)).toMatchObject({ isClaimed: false })
  })
  test('is held by a look only within one step of the process, so a program that begins meanwhile gets it', async () => {
    const { blockDevice } = host()
    const look = blockDevice(device)
    // opens it alone whenever this process waits for something
    let looked = false
    const done = look.finally(() => (looked = true))
    let taken = 0
    while (!looked) {
      closeSync(openSync(device, constants.O_RDONLY | constants.O_EXCL))
      taken++
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(await done).toMatchObject({ isClaimed: false })
    expect(taken).toBeGreaterThan(0)
  })
  test('that many look at once is not taken for claimed by them', async () => {
    const { blockDevice } = host()
    const looks = await Promise.all(Array.from({ length: 20 }, () => blockDevice(device)))
    expect(looks.map(({ isClaimed }) => isClaimed)).toEqual(Array.from({ length: 20 }, () => false))
  })
})

test('what is no block device, or is not there, is an error', async () => {
  const { blockDevice } = host()
  await expect(blockDevice('/dev/null')).rejects.toThrow('/dev/null: is no block device')
  await expect(blockDevice(join(folder.path, 'none'))).rejects.toMatchObject({ code: 'ENOENT' })
})
afterAll(folder.remove)
